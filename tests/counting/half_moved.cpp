// SPDX-License-Identifier: Apache-2.0
// Lookups of a table of which half has moved. A find in `dramhit` asks for the line of its key in the next array before it waits for that in the
// old one. A key of `dramhit_tuples` that has moved is found in its line of the next array, without a
// look at its whole chain in the old one. A find in `iceberg` asks for both buckets before it waits for the one that says which has
// the key, and a batch asks for the slots as well.
#include <array>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/dramhit.hpp>
#include <cubby/dramhit_tuples.hpp>
#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>
#include <cubby/pipeline.hpp>

#include "counting/tally.hpp"
#include "support/random.hpp"

namespace cubby_counting {
namespace {

using key_list = std::vector<std::uint64_t>;

/// A table in memory of `operator new`, as in prefetches.cpp, and its keys. No thread writes to it, so the move stays where it is.
template <class Engine> struct half_moved {
  using map = cubby::map<std::uint64_t, std::uint64_t, Engine>;
  std::unique_ptr<map> table = std::make_unique<map>();
  key_list keys;

  half_moved() {
    while (keys.size() < 20'000 || !table->stats().migrating) put();
    const std::size_t share = table->stats().bins / typename map::options_type{}.move_bins;
    // Of iceberg a growth has two units for each pair: half of the front buckets have split.
    const std::size_t writes = std::is_same_v<Engine, cubby::iceberg> ? share / 4 : share / 2;
    for (std::size_t i = 0; i < writes; ++i) put();
    EXPECT_TRUE(table->stats().migrating);
  }
  void put() {
    keys.push_back(cubby_test::splitmix(keys.size()));
    EXPECT_TRUE(table->insert(keys.back(), keys.size()));
  }
  template <class F> tally count(F f) {
    start({reinterpret_cast<const std::byte*>(table.get()), sizeof(map)}, {});
    f(*table);
    return stop();
  }
};

/// Of each find: what it read, on average.
struct means {
  double lines = 0, unasked = 0;
};
/// `look(table, some)` looks up so many keys at a time.
template <class Engine, class F> means of_finds(half_moved<Engine>& m, std::size_t at_a_time, F look) {
  means sum;
  double count = 0;
  for (std::size_t i = 0; i + at_a_time <= m.keys.size(); i += at_a_time) {
    const auto some = std::span(m.keys).subspan(i, at_a_time);
    const tally seen = m.count([&](auto& table) { EXPECT_EQ(look(table, some), some.size()); });
    sum.lines += seen.lines;
    sum.unasked += seen.unasked;
    count += static_cast<double>(at_a_time);
  }
  return {sum.lines / count, sum.unasked / count};
}
constexpr std::size_t in_a_call = 32;
constexpr auto one = [](auto& table, auto some) { return std::size_t{table.contains(some.front()) ? 1U : 0U}; };
constexpr auto batch = [](auto& table, auto some) {
  std::array<std::uint64_t, in_a_call> values{};
  std::array<bool, in_a_call> found{};
  return table.find_batch(some, values, found);
};
constexpr auto pipeline = [](auto& table, auto some) {
  std::size_t hits = 0;
  auto pending = table.handle().pipeline();
  const auto note = [&](const auto& r) { hits += r.value.has_value() ? 1U : 0U; };
  for (const std::uint64_t key : some) pending.submit({cubby::verb::find, key, 0, key}, note);
  pending.drain(note);
  return hits;
};

TEST(lookups_of_a_half_moved_table, of_tuples_do_not_read_all_of_the_old_chain) {
  half_moved<cubby::dramhit_tuples> m;
  EXPECT_LT(of_finds(m, 1, one).lines, 3);
  EXPECT_LT(of_finds(m, in_a_call, batch).unasked, 1);
  EXPECT_LT(of_finds(m, in_a_call, pipeline).unasked, 1);
}

TEST(lookups_of_a_half_moved_table, of_words_ask_for_the_next_array_before_they_read) {
  half_moved<cubby::dramhit> m;
  EXPECT_LT(of_finds(m, 1, one).unasked, 1.5);
  EXPECT_LT(of_finds(m, in_a_call, batch).unasked, 0.5);
}

TEST(lookups_of_a_half_moved_table, of_iceberg_ask_for_both_buckets) {
  half_moved<cubby::iceberg> m;
  EXPECT_LT(of_finds(m, 1, one).unasked, 1);
  EXPECT_LT(of_finds(m, in_a_call, batch).unasked, 0.1);
}

} // namespace
} // namespace cubby_counting
