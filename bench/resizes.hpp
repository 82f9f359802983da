// SPDX-License-Identifier: Apache-2.0
// The rivals of apps/bench filled with numbers, for programs that look them up while one thread resizes by hand.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "ddds.hpp"
#include "rwlock.hpp"

namespace bench {

/// The numbers below `entries` in a table that is resized by hand alone.
template <class Table> class filled {
public:
  filled(std::uint64_t buckets, std::uint64_t entries) : table_({.buckets = buckets, .grows = false}) {
    for (std::uint64_t i = 0; i < entries; ++i) {
      if (!table_.insert(i, i)) std::abort();
    }
  }

  class reader {
  public:
    explicit reader(filled& t) : table_(t.table_), thread_record_(*cubby::detail::registry::local()) {}
    bool find(std::uint64_t key, std::uint64_t& value) {
      if constexpr (requires(Table& t, cubby::detail::thread_record& s) { t.find(s, key, value); })
        return table_.find(thread_record_, key, value);
      else return table_.find(key, value);
    }

  private:
    Table& table_;
    cubby::detail::thread_record& thread_record_;
  };

  void resize(std::uint64_t buckets) { table_.resize(buckets); }

private:
  Table table_;
};

} // namespace bench
