// SPDX-License-Identifier: Apache-2.0
// Blocks that threads have at hand: each of them has one owner at a time, and none is overlooked where another thread needs it.
#include <cubby/detail/core/block_cache.hpp>

#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "support/fiber_scheduler.hpp"

namespace cubby_test {
namespace {

using cubby::detail::block_run;
constexpr std::uint64_t block = 64;
constexpr unsigned number = cubby::detail::block_size::number_for(block);

/// So many blocks, the first one at 64.
class stock {
public:
  explicit stock(unsigned count) {
    for (unsigned i = count; i > 0; --i) free_.push_back(block * i);
  }
  std::uint64_t take() {
    const std::uint64_t got = cache_.take(number, [&](unsigned most) { return run_of(most); });
    return got != 0 ? got : cache_.take_from_others(number);
  }
  void give(std::uint64_t offset) {
    cache_.give(number, offset, [&](std::uint64_t one) { free_.push_back(one); });
  }
  std::set<std::uint64_t> take_all() {
    std::set<std::uint64_t> all;
    while (const std::uint64_t one = take()) EXPECT_TRUE(all.insert(one).second) << one << " was taken twice";
    return all;
  }
  /// How many stripes were filled from the stock.
  [[nodiscard]] unsigned in_stripes() const { return runs_; }
  [[nodiscard]] std::uint64_t bytes() { return cache_.bytes() + free_.size() * block; }

private:
  block_run run_of(unsigned most) {
    block_run out{0, block, 0};
    ++runs_;
    // those of one word, as a bitmap has them
    while (most-- != 0 && !free_.empty() && (out.free == 0 || free_.back() / (64 * block) * 64 * block == out.at)) {
      out.at = free_.back() / (64 * block) * 64 * block;
      out.free |= std::uint64_t{1} << (free_.back() - out.at) / block;
      free_.pop_back();
    }
    return out;
  }
  unsigned runs_ = 0;
  std::vector<std::uint64_t> free_;
  cubby::detail::block_cache cache_;
};

TEST(blocks_at_hand, are_all_there_is_and_each_once) {
  for (const unsigned count : {0U, 1U, 63U, 64U, 1000U}) {
    stock all(count);
    for (int round = 0; round < 3; ++round) {
      const auto taken = all.take_all();
      EXPECT_EQ(taken.size(), count);
      EXPECT_EQ(all.bytes(), 0U);
      for (const std::uint64_t one : taken) all.give(one);
      EXPECT_EQ(all.bytes(), count * block);
    }
  }
}

/// The second one takes, gives and takes again between any two steps of the first one, which does the same. Both have one stripe for their own, since
/// scripts on fibers are of one thread.
TEST(blocks_at_hand, have_one_owner_where_two_meet_at_any_step) {
  bool last = false;
  for (std::uint64_t i = 0; !last; ++i) {
    stock all(100);
    fiber_scheduler turns;
    std::uint64_t kept[2] = {};
    const auto act = [&all](std::uint64_t& keep) {
      keep = all.take();
      all.give(all.take());
    };
    const auto first = turns.start([&] { act(kept[0]); });
    last = turns.run(first, i) == fiber_scheduler::stopped::finished;
    act(kept[1]);
    ASSERT_TRUE(turns.finish_all());
    EXPECT_NE(kept[0], kept[1]) << "stopped at " << i;
    EXPECT_EQ(all.bytes(), 98 * block) << "stopped at " << i;
    auto left = all.take_all();
    EXPECT_EQ(left.size(), 98U) << "stopped at " << i;
    EXPECT_EQ(left.count(kept[0]) + left.count(kept[1]), 0U) << "stopped at " << i;
  }
}

/// The first one stops in each of its steps, also where it has locked its stripe. So the second one leaves what it has taken together in another.
TEST(blocks_at_hand, that_others_keep_are_found_before_there_is_none) {
  bool last = false;
  bool locked = false;
  for (std::uint64_t i = 0; !last; ++i) {
    stock all(100);
    fiber_scheduler turns;
    std::uint64_t kept = 0;
    const auto first = turns.start([&] { kept = all.take(); });
    last = turns.run(first, i) == fiber_scheduler::stopped::finished;
    const std::uint64_t other = all.take();
    ASSERT_TRUE(turns.finish_all());
    EXPECT_NE(kept, other) << "stopped at " << i;
    locked = locked || all.in_stripes() == 2;
    EXPECT_EQ(all.take_all().size(), 98U) << "stopped at " << i;
  }
  EXPECT_TRUE(locked) << "the second one never met the lock of the first one";
}

TEST(blocks_at_hand, of_large_sizes_are_not_kept) {
  cubby::detail::block_cache cache;
  constexpr unsigned large = cubby::detail::block_size::number_for(2048);
  unsigned given = 0;
  const std::uint64_t one = cache.take(large, [](unsigned most) { return block_run{4096, 2048, most}; });
  EXPECT_EQ(one, 4096U);
  cache.give(large, one, [&](std::uint64_t) { ++given; });
  EXPECT_EQ(given, 1U);
  EXPECT_EQ(cache.bytes(), 0U);
}

} // namespace
} // namespace cubby_test
