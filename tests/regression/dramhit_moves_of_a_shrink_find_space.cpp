// SPDX-License-Identifier: Apache-2.0
// A table that shrinks takes inserts into its old array only as long as all of it fits into the new one. Without memory
// for yet another array they are refused, and what moves has space.
#include "engines.hpp"
#include "support/failing_memory.hpp"
#include "support/scheduler.hpp"

#include <vector>

namespace cubby_test {
namespace {

using shrinking_table = cubby::map<std::uint64_t, std::uint64_t, cubby::dramhit>;

bool try_to_put(shrinking_table& m, std::uint64_t n) {
  try {
    return m.insert(n, n);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// The shrink stands before its nth swap of a slot; another thread inserts what it can. True when it had fewer.
bool all_fit(std::uint64_t swaps) {
  constexpr std::uint64_t residents = 20, most = 3000;
  shrinking_table m(tiny_options());
  EXPECT_TRUE(m.reserve(most));
  for (std::uint64_t n = 10; n < 10 + residents; ++n) EXPECT_TRUE(m.insert(n, n));
  scheduler turns;
  const auto mover = turns.start([&m] { (void)m.shrink_to_fit(); });
  const bool ended = turns.run_until(mover, [left = swaps](step kind, const void*) mutable {
    return kind == step::rmw16 && left-- == 0;
  }) == scheduler::stopped::finished;
  set_index_memory(index_memory::none);
  std::vector<std::uint64_t> kept;
  const auto other = turns.start([&] {
    for (std::uint64_t n = 10 + residents; n < most; ++n)
      if (try_to_put(m, n)) kept.push_back(n);
  });
  const bool inserts_end = turns.finish(other);
  EXPECT_TRUE(inserts_end) << "an insert that moves waits for memory, stopped before swap " << swaps;
  EXPECT_TRUE(turns.finish(mover)) << "the shrink waits for memory, stopped before swap " << swaps;
  set_index_memory(index_memory::plenty);
  EXPECT_TRUE(turns.finish_all());
  for (const std::uint64_t n : kept) EXPECT_EQ(m.find(n), n) << "stopped before swap " << swaps;
  EXPECT_EQ(m.size(), residents + kept.size());
  return ended;
}

/// The first swaps are what matters: later ones leave fewer slots to insert into. Each insert moves a unit itself, so the old
/// array is large enough for more inserts than the new one has slots.
TEST(regression_dramhit_shrink, leaves_space_for_what_moves) {
  for (const std::uint64_t swaps : {0u, 1u, 40u}) EXPECT_FALSE(all_fit(swaps)) << "the shrink had fewer swaps";
}

} // namespace
} // namespace cubby_test
