// SPDX-License-Identifier: Apache-2.0
// The places of a `fixed` table: as many as there are, and none is overlooked while it goes from one stripe to another.
#include <cubby/detail/core/places.hpp>

#include <gtest/gtest.h>

#include "support/scheduler.hpp"

namespace cubby_test {
namespace {

using stock = cubby::detail::place_stock<cubby::detail::sync::shared>;
constexpr std::uint64_t in_two_stripes = 128;

TEST(places, are_as_many_as_there_are) {
  for (const std::uint64_t bound : {0u, 1u, 63u, 128u, 1000u, 100000u}) {
    stock all;
    EXPECT_FALSE(all.is_bounded());
    ASSERT_TRUE(all.open(bound));
    EXPECT_TRUE(all.is_bounded());
    for (int round = 0; round < 2; ++round) {
      for (std::uint64_t n = 0; n < bound; ++n) ASSERT_TRUE(all.take(n % 7)) << n << " of " << bound;
      for (std::uint64_t thread_record = 0; thread_record < 70; ++thread_record)
        ASSERT_FALSE(all.take(thread_record)) << bound;
      for (std::uint64_t n = 0; n < bound; ++n) all.give(n % 3);
    }
  }
}

/// The second one takes its place between any two steps of the first one.
TEST(places, are_taken_once_by_two_that_take_from_one_stripe) {
  bool last = false;
  for (std::uint64_t i = 0; !last; ++i) {
    stock all;
    ASSERT_TRUE(all.open(in_two_stripes));
    scheduler turns;
    bool taken = false;
    const auto first = turns.start([&] { taken = all.take(0); });
    last = turns.run(first, i) == scheduler::stopped::finished;
    EXPECT_TRUE(all.take(0));
    ASSERT_TRUE(turns.finish_all());
    EXPECT_TRUE(taken) << "stopped at " << i;
    std::uint64_t left = 0;
    while (all.take(1)) ++left;
    EXPECT_EQ(left, in_two_stripes - 2) << "stopped at " << i;
  }
}

/// All are given by one thread, and lie in several stripes then.
TEST(places, are_found_wherever_one_thread_has_left_them) {
  constexpr std::uint64_t bound = 1000;
  stock all;
  ASSERT_TRUE(all.open(bound));
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t n = 0; n < bound; ++n) ASSERT_TRUE(all.take(n % 5)) << n;
    for (std::uint64_t n = 0; n < bound; ++n) all.give(3);
  }
  for (std::uint64_t n = 0; n < bound; ++n) ASSERT_TRUE(all.take(2)) << n;
  EXPECT_FALSE(all.take(2));
}

/// One place is free at every moment: in stripe 1, then also in stripe 0, then only there.
TEST(places, are_not_overlooked_on_their_way) {
  for (std::uint64_t i = 0;; ++i) {
    stock all;
    ASSERT_TRUE(all.open(in_two_stripes));
    for (std::uint64_t n = 0; n < in_two_stripes / 2; ++n) ASSERT_TRUE(all.take(0));
    for (std::uint64_t n = 1; n < in_two_stripes / 2; ++n) ASSERT_TRUE(all.take(1));
    scheduler turns;
    bool taken = false;
    const auto seeker = turns.start([&] { taken = all.take(0); });
    const bool last = turns.run(seeker, i) == scheduler::stopped::finished;
    if (!last) {
      all.give(0);
      (void)all.take(1);
    }
    ASSERT_TRUE(turns.finish_all());
    EXPECT_TRUE(taken) << "stopped at " << i;
    if (last) return;
  }
}

} // namespace
} // namespace cubby_test
