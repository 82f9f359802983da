// SPDX-License-Identifier: Apache-2.0
// A size that no memory can hold is refused by `reference`, too: `reserve` answers false, a capacity throws
// std::bad_alloc. Once the largest sizes went into std::unordered_map's floating-point arithmetic, came out as nothing,
// and were granted.
#include <cstdint>
#include <limits>
#include <new>

#include "engines.hpp"

namespace cubby_test {
namespace {

using reference_map = cubby::map<std::uint64_t, std::uint64_t, cubby::reference>;
constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();

TEST(regression_reference_huge, capacities_are_refused) {
  for (unsigned shift = 0; shift < 4; ++shift) {
    cubby::options o;
    o.capacity = largest >> shift;
    EXPECT_THROW(reference_map{o}, std::bad_alloc) << shift;
  }
}

TEST(regression_reference_huge, reserves_are_refused) {
  reference_map m;
  ASSERT_TRUE(m.insert(1, 1));
  const std::size_t slots = m.capacity();
  for (unsigned shift = 0; shift < 4; ++shift) EXPECT_FALSE(m.reserve(largest >> shift)) << shift;
  EXPECT_EQ(m.capacity(), slots);
  EXPECT_EQ(m.find(1), 1u);
}

} // namespace
} // namespace cubby_test
