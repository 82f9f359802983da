// SPDX-License-Identifier: Apache-2.0
// Keys of a DRAMHiT table of records that share the words 0 to 3 live in a side region. What moves there finds space,
// whatever others insert meanwhile, also when there is no memory for another array. The table does not grow by several
// times because the side region is full.
#include "engines.hpp"
#include "support/failing_memory.hpp"
#include "support/scheduler.hpp"

namespace cubby_test {
namespace {

struct side_key {
  std::uint64_t number = 0;
  std::uint64_t group = 0; ///< 0: one of the side region
  bool operator==(const side_key&) const = default;
};
struct group_hash {
  using is_avalanching = void;
  std::uint64_t operator()(const side_key& n) const noexcept {
    return n.group == 0 ? n.number % 4 : splitmix(n.number);
  }
};
using side_table = cubby::map<side_key, std::uint64_t, cubby::dramhit, group_hash>;

bool try_to_insert(side_table& m, std::uint64_t n) {
  try {
    return m.insert(side_key{n, 0}, n);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// The mover stands before its nth swap; others insert until they are refused. True when it had fewer.
bool mover_finds_space(std::uint64_t swaps, std::uint64_t residents) {
  side_table m(tiny_options());
  for (std::uint64_t n = 0; n < residents; ++n) EXPECT_TRUE(m.insert(side_key{n, 0}, n));
  scheduler turns;
  const auto mover = turns.start([&m] { EXPECT_TRUE(m.reserve(60)); });
  const bool ended = turns.run_until(mover, [left = swaps](step kind, const void*) mutable {
    return kind == step::rmw16 && left-- == 0;
  }) == scheduler::stopped::finished;
  set_index_memory(index_memory::none);
  std::uint64_t inserted = residents;
  while (inserted < 1000 && try_to_insert(m, inserted)) ++inserted;
  EXPECT_LT(inserted, 1000u) << "without memory there is an end";
  EXPECT_TRUE(turns.finish(mover)) << "the mover waits for memory, stopped before swap " << swaps;
  set_index_memory(index_memory::plenty);
  EXPECT_TRUE(turns.finish_all());
  for (std::uint64_t n = 0; n < inserted; ++n) EXPECT_EQ(m.find(side_key{n, 0}), n);
  EXPECT_TRUE(m.insert(side_key{inserted, 0}, 1)) << "there is memory again";
  EXPECT_EQ(m.size(), inserted + 1);
  return ended;
}

TEST(regression_dramhit_side, has_space_for_all_that_moves_there) {
  for (const std::uint64_t residents : {1u, 3u, 4u, 20u}) {
    std::uint64_t swaps = 0;
    while (!mover_finds_space(swaps, residents) && !HasFailure()) ++swaps;
    EXPECT_GT(swaps, residents);
  }
}

TEST(regression_dramhit_side, grows_by_itself) {
  for (const auto growth : growing_policies) {
    table_options o = tiny_options(growth);
    o.growth_factor = 0;
    side_table m(o);
    constexpr std::uint64_t side = 300, main = 3000;
    for (std::uint64_t n = 0; n < main; ++n) ASSERT_TRUE(m.insert(side_key{n, 1}, n));
    for (std::uint64_t n = 0; n < side; ++n) ASSERT_TRUE(m.insert(side_key{n, 0}, n));
    ASSERT_TRUE(m.reserve(0));
    EXPECT_LT(m.stats().capacity, main * 40) << "an eighth of a tenth of the entries made it that large";
    for (std::uint64_t n = 0; n < side; ++n) ASSERT_EQ(m.find(side_key{n, 0}), n);
    for (std::uint64_t n = 0; n < side; n += 2) ASSERT_TRUE(m.erase(side_key{n, 0}));
    ASSERT_TRUE(m.shrink_to_fit());
    for (std::uint64_t n = 0; n < side; ++n) ASSERT_EQ(m.contains(side_key{n, 0}), n % 2 == 1);
    EXPECT_EQ(m.size(), main + side / 2);
  }
}

/// The same few keys again and again: space for them does not add up.
TEST(regression_dramhit_side, does_not_keep_space_for_what_was_erased) {
  side_table m(tiny_options());
  for (std::uint64_t round = 0; round < 3000; ++round) {
    for (std::uint64_t n = 0; n < 3; ++n) ASSERT_TRUE(m.insert(side_key{n, 0}, round));
    for (std::uint64_t n = 0; n < 3; ++n) ASSERT_TRUE(m.erase(side_key{n, 0}));
  }
  ASSERT_TRUE(m.reserve(0));
  EXPECT_LE(m.stats().capacity, 128u);
  EXPECT_LT(m.stats().bytes, 20000u);
}

} // namespace
} // namespace cubby_test
