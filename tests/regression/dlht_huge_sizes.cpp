// SPDX-License-Identifier: Apache-2.0
// A size that no memory can hold is refused as such: `reserve` answers false and leaves the table as it was, a capacity
// throws std::bad_alloc. Once the product of such sizes wrapped, and a small mapping was taken for a vast index.
#include <cstdint>
#include <limits>
#include <new>

#include "engines.hpp"

namespace cubby_test {
namespace {

using mixed = cubby::hash<std::uint64_t>;
using modulo = cubby::modulo_hash<std::uint64_t>;

template <class Map>
class regression_dlht_huge : public ::testing::Test {};
using huge_maps = ::testing::Types<cubby::map<std::uint64_t, std::uint64_t, cubby::dlht, mixed>,
                                   cubby::map<std::uint64_t, std::uint64_t, cubby::dlht, modulo>,
                                   cubby::map<std::uint64_t, std::uint64_t, cubby::dlht_single, mixed>,
                                   cubby::map<std::uint64_t, std::uint64_t, cubby::dlht_single, modulo>>;
TYPED_TEST_SUITE(regression_dlht_huge, huge_maps);

/// From the largest down to 2^42 entries, which no address space of 48 bits has space for.
constexpr unsigned least_shift = 22;

TYPED_TEST(regression_dlht_huge, capacities_are_refused) {
  for (unsigned shift = 0; shift <= least_shift; ++shift) {
    table_options o = tiny_options();
    o.capacity = std::numeric_limits<std::size_t>::max() >> shift;
    ASSERT_THROW(TypeParam{o}, std::bad_alloc) << shift;
  }
}

TYPED_TEST(regression_dlht_huge, reserves_are_refused) {
  for (const std::size_t first : {1u, 24u, 1000u}) {
    TypeParam m(tiny_options());
    ASSERT_TRUE(m.reserve(first));
    for (std::uint64_t k = 0; k < 40; ++k) ASSERT_TRUE(m.insert(k, k));
    ASSERT_TRUE(m.reserve(1)); // ends what growth is under way
    const auto bins = m.stats().bins;
    for (unsigned shift = 0; shift <= least_shift; ++shift) {
      ASSERT_FALSE(m.reserve(std::numeric_limits<std::size_t>::max() >> shift)) << shift;
    }
    ASSERT_EQ(m.stats().bins, bins);
    ASSERT_FALSE(m.stats().migrating);
    for (std::uint64_t k = 0; k < 40; ++k) ASSERT_EQ(m.find(k), k);
    for (std::uint64_t k = 40; k < 400; ++k) ASSERT_TRUE(m.insert(k, k));
    for (std::uint64_t k = 0; k < 400; ++k) ASSERT_EQ(m.find(k), k);
  }
}

} // namespace
} // namespace cubby_test
