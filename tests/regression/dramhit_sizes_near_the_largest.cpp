// SPDX-License-Identifier: Apache-2.0
// Sizes of a DRAMHiT table: options near the largest number, and a reserve that meets another thread's growth.
#include <limits>

#include "engines.hpp"
#include "support/scheduler.hpp"

namespace cubby_test {
namespace {

using sized_table = cubby::map<std::uint64_t, std::uint64_t, cubby::dramhit>;

/// However many bins one step may move: there is an end to moving, and nothing is moved twice.
TEST(regression_dramhit_sizes, of_steps_near_the_largest_number_move_everything) {
  constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();
  for (const auto growth : growing_policies) {
    for (const std::size_t bins : {largest, largest - 3, largest - 7, largest / 2 + 1, largest / 4 + 1}) {
      table_options o = tiny_options(growth);
      o.move_bins = o.chunk_bins = bins;
      sized_table m(o);
      for (std::uint64_t n = 0; n < 2000; ++n) ASSERT_TRUE(m.insert(n, n));
      ASSERT_TRUE(m.reserve(3000));
      EXPECT_FALSE(m.stats().migrating) << bins;
      for (std::uint64_t n = 0; n < 2000; ++n) ASSERT_EQ(m.find(n), n) << bins;
      EXPECT_EQ(m.size(), 2000u);
    }
  }
}

/// A reserve stands still before each of its steps while another thread makes the table larger than it wants.
TEST(regression_dramhit_sizes, asked_for_do_not_shrink_what_others_have_made) {
  for (std::uint64_t steps = 0;; ++steps) {
    sized_table m(tiny_options());
    for (std::uint64_t n = 0; n < 40; ++n) ASSERT_TRUE(m.insert(n, n));
    scheduler turns;
    const auto small = turns.start([&m] { ASSERT_TRUE(m.reserve(60)); });
    const bool last = turns.run(small, steps) == scheduler::stopped::finished;
    // Waits when the first one stands still with a lock, or with a unit.
    const auto grower = turns.start([&m] {
      for (std::uint64_t n = 40; n < 400; ++n) ASSERT_TRUE(m.insert(n, n));
    });
    turns.run_until(grower, scheduler::never);
    ASSERT_TRUE(turns.finish_all());
    ASSERT_EQ(m.stats().shrinks, 0u) << "stopped before step " << steps;
    ASSERT_EQ(m.size(), 400u);
    if (last) return;
  }
}

} // namespace
} // namespace cubby_test
