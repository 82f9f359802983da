// SPDX-License-Identifier: Apache-2.0
// A unit that its mover gives back for want of memory is moved by a later sweep, also when all sweeps have passed it
// already. Once no thread came back to it: the migration never ended, and a thread that waited for its end did so for ever.
#include "dlht/overfull.hpp"
#include "support/failing_memory.hpp"

namespace cubby_test {
namespace {

TEST(regression_dlht, a_unit_given_back_behind_the_sweep_is_swept_again) {
  using table = overfull_halving<>;
  for (unsigned claims = 1; claims < 6; ++claims) {
    for (std::uint64_t steps = 0; steps < 70; ++steps) {
      table t;
      auto a = t.map.handle(), b = t.map.handle(), c = t.map.handle();
      scheduler turns;
      const auto starved = turns.start([&] {
        const memory_failure at_once(1);
        EXPECT_EQ(a.try_insert(table::key(table::full_bin, 15), 15), cubby::outcome::no_memory);
      });
      const auto sweeper = turns.start([&] { (void)b.reserve(1); }); // may answer that memory ended: elsewhere it did
      const auto last = turns.start([&] { EXPECT_TRUE(c.reserve(1)); });
      turns.run_until(starved, before_change(claims));
      turns.run_until(sweeper, scheduler::never); // until only the other's unit is left
      turns.run(starved, steps);
      turns.run_until(sweeper, scheduler::never);
      turns.run_until(starved, scheduler::never);
      ASSERT_TRUE(turns.finish(sweeper)) << "stops " << claims << " " << steps;
      ASSERT_TRUE(turns.finish(last)) << "stops " << claims << " " << steps;
      ASSERT_TRUE(turns.finish_all());
      ASSERT_FALSE(t.map.stats().migrating) << "stops " << claims << " " << steps;
      t.expect_intact(0);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

} // namespace
} // namespace cubby_test
