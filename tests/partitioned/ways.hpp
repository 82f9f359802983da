// SPDX-License-Identifier: Apache-2.0
// The ways in which a partitioned table's writes are carried out: by the thread that has to wait, by threads of the table, by
// handles that look after partitions. What the table promises holds in all of them.
#pragma once

#include <cstddef>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/delegated_map.hpp>

namespace cubby_test::partitioned_tests {

using map = cubby::delegated_map<std::uint64_t, std::uint64_t>;
using cubby::outcome;

struct way {
  const char* name;
  std::size_t partitions;
  std::size_t owners; // threads of the table
  bool handles_own;
  friend std::ostream& operator<<(std::ostream& out, const way& w) { return out << w.name; }
};

inline constexpr way every_way[] = {{"one_partition", 1, 0, false},
                                    {"waiting_senders", 5, 0, false},
                                    {"threads_of_the_table", 5, 2, false},
                                    {"a_thread_for_each", 2, 2, false},
                                    {"handles", 5, 0, true}};

/// So small that every few writes make a partition grow.
inline cubby::partitioned::options tiny(const way& w) {
  cubby::partitioned::options o;
  o.capacity = 1;
  o.growth_factor = 2;
  o.partitions = w.partitions;
  o.owners = w.owners;
  return o;
}

/// A handle that, if handles own, looks after every `of`th partition from `first` on.
inline map::handle_type handle_of(map& m, const way& w, std::size_t first = 0, std::size_t of = 1) {
  auto h = m.handle();
  if (w.handles_own)
    for (std::size_t i = first; i < m.partitions(); i += of) h.own(i);
  return h;
}

} // namespace cubby_test::partitioned_tests
