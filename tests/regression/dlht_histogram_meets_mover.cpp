// SPDX-License-Identifier: Apache-2.0
// A histogram taken while a bin moves ends. It waits for the bin and keeps old indexes from being freed meanwhile; the
// bin's mover may need the lock of growth. Once a third thread, at its maintenance, held that one while it waited for the
// histogram: three threads in a ring.
#include "dlht/overfull.hpp"

namespace cubby_test {
namespace {

/// Calls with a share of a migration's work until one looks at the old indexes; the first was in the constructor.
constexpr std::uint64_t calls_between_looks = 64;

TEST(regression_dlht, a_histogram_during_a_move_ends) {
  using table = overfull_halving<cubby::dlht_counted>;
  constexpr std::uint64_t other = table::key(table::bystander_bin, 1);
  for (unsigned first = 1; first < 10; ++first) {
    for (unsigned third = 1; third < 24; ++third) {
      table t;
      auto a = t.map.handle(), c = t.map.handle();
      std::uint64_t counted = 0;
      scheduler turns;
      const auto mover = turns.start([&] { EXPECT_TRUE(a.insert(table::key(table::full_bin, 15), 15)); });
      const auto photographer = turns.start([&] {
        for (const std::uint64_t n : t.map.histogram().bins) counted += n;
      });
      const auto worker = turns.start([&] {
        EXPECT_TRUE(c.insert(other, 1));
        EXPECT_TRUE(c.erase(other));
      });
      turns.run_until(mover, before_change(first));
      for (std::uint64_t n = 0; n < calls_between_looks / 2 - 1; ++n) {
        ASSERT_TRUE(t.map.insert(other, 1));
        ASSERT_TRUE(t.map.erase(other));
      }
      turns.run_until(worker, before_change(third));
      turns.run_until(photographer, scheduler::never);
      ASSERT_TRUE(turns.finish(mover)) << "stops " << first << " " << third;
      ASSERT_TRUE(turns.finish_all());
      ASSERT_LE(counted, table::bins);
      t.expect_intact(1);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

} // namespace
} // namespace cubby_test
