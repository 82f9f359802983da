// SPDX-License-Identifier: Apache-2.0
// What an empty map takes: at most 512 bytes of its own, and no memory before its first insert. Each call works on a map that has had no
// insert, while threads make its first index, and without memory for one.
#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <cubby/map.hpp>
#include <cubby/set.hpp>

#include "support/failing_memory.hpp"
#include "support/scheduler.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

using word_map = cubby::map<std::uint64_t, std::uint64_t>;
using text_map = cubby::map<std::string, std::string>;

static_assert(sizeof(word_map) <= 512);
static_assert(sizeof(cubby::map<std::uint32_t, double>) <= 512);
static_assert(sizeof(cubby::set<std::uint64_t>) <= 512);

/// Each call that reads, on a map without entries.
template <class Map> void expect_empty(Map& m, const typename Map::key_type& k) {
  EXPECT_EQ(m.size(), 0u);
  EXPECT_FALSE(m.contains(k));
  EXPECT_FALSE(m.find(k).has_value());
  EXPECT_FALSE(m.erase(k));
  EXPECT_FALSE(m.assign(k, {}));
  EXPECT_FALSE(m.update(k, [](const auto& v) { return v; }));
  std::size_t shown = 0;
  m.visit_all([&](const auto&, const auto&) { ++shown; });
  EXPECT_EQ(m.erase_if([](const auto&, const auto&) { return true; }), 0u);
  EXPECT_TRUE(m.shrink_to_fit());
  m.clear();
  EXPECT_EQ(shown, 0u);
}

template <class Map> void expect_nothing_taken(const typename Map::key_type& k) {
  (void)std::make_unique<Map>()->contains(k); // the thread's record, and what all tables share
  const auto before = living_blocks();
  const memory_failure none(1);
  {
    Map m;
    expect_empty(m, k);
    EXPECT_EQ(living_blocks(), before);
  }
  EXPECT_FALSE(none.struck()); // nothing was asked for, not even for a moment, as pages neither
  EXPECT_EQ(living_blocks(), before);
}

TEST(empty_maps, take_nothing_before_the_first_insert) {
  for (const std::uint64_t key : {0u, 3u, 4u, 1000u}) expect_nothing_taken<word_map>(key);
  expect_nothing_taken<text_map>("a key that lies in a record");
}

TEST(empty_maps, give_back_what_the_first_insert_took) {
  (void)std::make_unique<word_map>()->contains(1);
  const auto before = living_blocks();
  {
    word_map m;
    const std::size_t slots = m.capacity();
    EXPECT_EQ(m.stats().bytes, 0u);
    EXPECT_TRUE(m.insert(1, 2));
    EXPECT_EQ(living_blocks(), before + 2); // the index and its bins
    EXPECT_GT(m.stats().bytes, 0u);
    EXPECT_EQ(m.capacity(), slots);
    EXPECT_EQ(m.stats().growths, 0u);
  }
  EXPECT_EQ(living_blocks(), before);
}

TEST(empty_maps, answer_an_insert_without_memory) {
  word_map m;
  (void)m.contains(1);
  for (std::uint64_t number = 1; number <= 2; ++number) {
    const memory_failure failure(number);
    EXPECT_EQ(m.try_insert(5, 6), cubby::outcome::no_memory);
    EXPECT_TRUE(failure.struck());
    EXPECT_EQ(m.size(), 0u);
  }
  EXPECT_EQ(m.try_insert(5, 6), cubby::outcome::inserted);
  EXPECT_EQ(m.find(5), 6u);
}

TEST(empty_maps, reserve_what_was_asked_for) {
  word_map m;
  ASSERT_TRUE(m.reserve(1000));
  const memory_failure none(3); // the first two are the stripes of the counter
  for (std::uint64_t n = 0; n < 1000; ++n) ASSERT_EQ(m.try_insert(n, n), cubby::outcome::inserted);
  EXPECT_EQ(m.stats().growths, 0u);
  EXPECT_EQ(m.size(), 1000u);
  word_map other;
  {
    const memory_failure failure(1);
    EXPECT_FALSE(other.reserve(1));
  }
  EXPECT_TRUE(other.reserve(1));
  EXPECT_FALSE(other.reserve(std::size_t{1} << 60));
}

TEST(empty_maps, have_snapshots_and_reservations) {
  word_map m;
  EXPECT_TRUE(m.snapshot().empty());
  EXPECT_TRUE(m.insert(1, 2));
  EXPECT_EQ(m.snapshot().size(), 1u);
  word_map other;
  {
    auto reserved = other.shadow_insert(7, 8);
    ASSERT_TRUE(static_cast<bool>(reserved));
    EXPECT_FALSE(other.contains(7));
    reserved.commit();
  }
  EXPECT_EQ(other.find(7), 8u);
}

/// The thread that makes the first index stands still after each of its steps, while the other one inserts and erases.
TEST(empty_maps, get_one_first_index_from_two_threads) {
  for (std::uint64_t i = 0;; ++i) {
    word_map m;
    bool last = false;
    {
      scheduler turns;
      const auto first = turns.start([&] { EXPECT_TRUE(m.insert(1, 10)); });
      last = turns.run(first, i) == scheduler::stopped::finished;
      ASSERT_TRUE(m.insert(2, 20)) << "stopped at " << i;
      ASSERT_TRUE(m.insert(3, 30)) << "stopped at " << i;
      ASSERT_EQ(m.find(2), 20u) << "stopped at " << i;
      ASSERT_TRUE(m.erase(3)) << "stopped at " << i;
      ASSERT_TRUE(turns.finish_all());
    }
    EXPECT_EQ(m.find(1), 10u) << "stopped at " << i;
    EXPECT_EQ(m.find(2), 20u) << "stopped at " << i;
    EXPECT_EQ(m.size(), 2u) << "stopped at " << i;
    if (last) return;
  }
}

TEST(empty_maps, lose_nothing_of_threads_that_insert_first) {
  for (unsigned round = 0; round < 200; ++round) {
    word_map m;
    run_threads(2, [&](unsigned me) {
      EXPECT_FALSE(m.contains(7 + me));
      EXPECT_TRUE(m.insert(7 + me, round));
      EXPECT_EQ(m.find(7 + me), round);
    });
    ASSERT_EQ(m.size(), 2u);
  }
}

} // namespace
} // namespace cubby_test
