// SPDX-License-Identifier: Apache-2.0
// A mover without memory gives a unit's bins back so that the bin which stands for the unit is free last. Once it was
// free first. The next mover had the unit while its other bins were still being given back. An insert that came between
// got into a bin whose entries had been listed already, and was lost.
#include "dlht/overfull.hpp"
#include "support/failing_memory.hpp"

namespace cubby_test {
namespace {

TEST(regression_dlht, an_insert_beside_a_unit_given_back_is_not_lost) {
  using table = overfull_halving<>;
  bool given_back = false;
  for (unsigned first = 1, ended = 0; ended == 0; ++first) {
    for (unsigned second = 1; second < 40; ++second) {
      table t;
      auto a = t.map.handle(), b = t.map.handle(), c = t.map.handle();
      auto how = cubby::outcome::inserted;
      scheduler turns;
      const auto starved = turns.start([&] {
        const memory_failure at_once(1);
        how = a.try_insert(table::key(table::full_bin, 15), 15);
      });
      const auto mover = turns.start([&] { EXPECT_TRUE(b.insert(table::key(table::full_bin, 16), 16)); });
      const auto inserter = turns.start([&] { EXPECT_TRUE(c.insert(table::key(table::sparse_bin, 3), 3)); });
      ended = turns.run_until(starved, before_change(first)) == scheduler::stopped::finished ? 1 : 0;
      turns.run_until(mover, before_change(second));
      turns.run_until(starved, scheduler::never);
      turns.run_until(inserter, scheduler::never);
      ASSERT_TRUE(turns.finish_all());
      const bool in = how == cubby::outcome::inserted;
      given_back |= !in;
      ASSERT_EQ(t.map.find(table::key(table::sparse_bin, 3)), 3u) << "stops " << first << " " << second;
      ASSERT_EQ(t.map.contains(table::key(table::full_bin, 15)), in);
      t.expect_intact(2 + (in ? 1 : 0));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_TRUE(given_back) << "memory never ended in the middle of a move";
}

} // namespace
} // namespace cubby_test
