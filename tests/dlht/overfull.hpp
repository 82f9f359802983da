// SPDX-License-Identifier: Apache-2.0
// For moves that find no space: a table of 64 bins that has begun to halve, with nothing moved yet. One of its units,
// bins 5 and 37, holds more entries than one bin of the next index: a thread that moves it needs an index beyond the next.
#pragma once

#include "dlht/stage.hpp"

namespace cubby_test {

template <class Engine = cubby::dlht>
class overfull_halving {
public:
  using map_type = cubby::map<std::uint64_t, std::uint64_t, Engine, cubby::modulo_hash<std::uint64_t>>;

  static constexpr std::uint64_t bins = 64;
  static constexpr std::uint64_t full_bin = 5;      // all its fifteen slots are taken
  static constexpr std::uint64_t sparse_bin = 37;   // three entries; of the same unit as the full one
  static constexpr std::uint64_t bystander_bin = 9; // of another unit, empty
  /// The `n`th key of a bin.
  static constexpr std::uint64_t key(std::uint64_t bin, std::uint64_t n) { return bin + n * bins; }

  overfull_halving() : map(halving_options()) {
    EXPECT_TRUE(map.reserve(bins * 3 / 2));
    for (std::uint64_t n = 0; n < 15; ++n) EXPECT_TRUE(map.insert(key(full_bin, n), n));
    for (std::uint64_t n = 0; n < 3; ++n) EXPECT_TRUE(map.insert(key(sparse_bin, n), n));
    EXPECT_TRUE(map.insert(key(bystander_bin, 0), 0));
    EXPECT_TRUE(map.erase(key(bystander_bin, 0))); // the first erase looks at the size, and the table halves
    EXPECT_EQ(map.stats().bins, bins);
    EXPECT_TRUE(map.stats().migrating);
  }

  /// What the constructor put there is found, and a scan meets it and `more` other entries, each once.
  void expect_intact(std::uint64_t more) {
    for (std::uint64_t n = 0; n < 15; ++n) ASSERT_EQ(map.find(key(full_bin, n)), n);
    for (std::uint64_t n = 0; n < 3; ++n) ASSERT_EQ(map.find(key(sparse_bin, n)), n);
    std::uint64_t met = 0;
    map.visit_all([&](std::uint64_t, std::uint64_t) { ++met; });
    ASSERT_EQ(met, 18 + more);
    ASSERT_EQ(map.size(), 18 + more);
  }

  map_type map;

private:
  static table_options halving_options() {
    table_options o = tiny_options();
    o.shrink = cubby::shrink_policy::automatic;
    return o;
  }
};

} // namespace cubby_test
