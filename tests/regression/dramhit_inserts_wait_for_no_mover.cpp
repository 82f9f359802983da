// SPDX-License-Identifier: Apache-2.0
// Inserts into a DRAMHiT table wait for no mover, under any growth policy. The mover stands still before each of its
// swaps of a slot, and a thread inserts until the table has grown again.
#include "engines.hpp"
#include "support/scheduler.hpp"

namespace cubby_test {
namespace {

using steady_table = cubby::map<std::uint64_t, std::uint64_t, cubby::dramhit>;

constexpr std::uint64_t steady_entries = 40;

/// True when the mover has ended by then.
bool inserts_end(cubby::growth_policy growth, std::uint64_t swaps) {
  steady_table m(tiny_options(growth));
  std::uint64_t n = 100;
  for (; n < 100 + steady_entries; ++n) EXPECT_TRUE(m.insert(n, n));
  scheduler turns;
  const auto grower = turns.start([&m] { EXPECT_TRUE(m.reserve(60)); });
  const bool ended = turns.run_until(grower, [left = swaps](step kind, const void*) mutable {
    return kind == step::rmw16 && left-- == 0;
  }) == scheduler::stopped::finished;
  for (std::uint64_t k = 0; k < 30; k += 5) { // a few at a time: the scheduler takes long work for waiting
    const auto other = turns.start([&m, from = n + k] {
      for (std::uint64_t key = from; key < from + 5; ++key) EXPECT_TRUE(m.insert(key, key));
    });
    EXPECT_EQ(turns.run_until(other, scheduler::never), scheduler::stopped::finished)
        << "stopped before swap " << swaps;
  }
  EXPECT_TRUE(turns.finish_all());
  for (std::uint64_t k = 100; k < n + 30; ++k) EXPECT_EQ(m.find(k), k) << "stopped before swap " << swaps;
  EXPECT_EQ(m.size(), steady_entries + 30);
  return ended;
}

/// `background` is left out: its mover is no thread of the test.
TEST(regression_dramhit_inserts, wait_for_no_mover) {
  for (const auto growth : {cubby::growth_policy::cooperative, cubby::growth_policy::incremental}) {
    std::uint64_t swaps = 0;
    while (!inserts_end(growth, swaps) && !HasFailure()) ++swaps;
    EXPECT_GT(swaps, 60u);
  }
}

} // namespace
} // namespace cubby_test
