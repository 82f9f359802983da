// SPDX-License-Identifier: Apache-2.0
// How often cache lines change hands between cores. The real code of `dramhit` and of `partitioned` is run by one thread
// that plays so many cores in turn, over a model of their private caches. No figure of time; the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace cubby_counting {

struct traffic {
  std::size_t cores = 2;
  std::size_t keys = std::size_t{1} << 20;
  double theta = 1.09;         // of Zipf; 0: uniform
  std::size_t before = 200000; // operations that are not counted: caches and queues are as they will be
  std::size_t operations = 200000;
};

/// For each operation, an `insert_or_add` of a key that is there.
struct transfers {
  double lines = 0;   // that came from another core, or whose copies at others had to go
  double busiest = 0; // of these, of the one line that changed hands most: only one core at a time can have it
};
transfers of_shared_table(const traffic& t);
transfers of_partitioned_table(const traffic& t);

/// The table of docs/performance/partitioned.md.
std::string transfers_table();

} // namespace cubby_counting
