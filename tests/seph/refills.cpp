// SPDX-License-Identifier: Apache-2.0
// Space comes back after a mass erase, and can be filled again: an insert is refused for keys that agree, and not for what the table has been.
#include <cstdint>

#include <gtest/gtest.h>

#include <cubby/map.hpp>
#include <cubby/seph.hpp>

namespace cubby_test {
namespace {

using cubby::outcome;
using word_map = cubby::map<std::uint64_t, std::uint64_t, cubby::seph>;

/// The keys choose their segments.
struct same_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key; }
};
using chosen_map = cubby::map<std::uint64_t, std::uint64_t, cubby::seph, same_hash>;

/// Key number `n` of those whose hashes begin with zeros, so many.
std::uint64_t key_behind(unsigned zeros, std::uint64_t n) {
  return n * 0x9e3779b97f4a7c15U >> zeros; // the multiples of the golden ratio are spread evenly
}

cubby::seph::options small_segments(cubby::shrink_policy shrink) {
  cubby::seph::options o;
  o.segment_bits = 3;
  o.shrink = shrink;
  return o;
}

class seph_refills : public ::testing::TestWithParam<cubby::shrink_policy> {};

TEST_P(seph_refills, take_as_many_entries_after_each_mass_erase) {
  word_map m(small_segments(GetParam()));
  constexpr std::uint64_t count = 20'000;
  for (std::uint64_t round = 0; round < 6; ++round) {
    const std::uint64_t first = round * count;
    for (std::uint64_t k = first; k < first + count; ++k) ASSERT_EQ(m.try_insert(k, ~k), outcome::inserted) << round;
    const std::size_t full = m.capacity();
    const std::uint64_t left = round % 2 == 0 ? 0 : 50;
    for (std::uint64_t k = first; k < first + count - left; ++k) ASSERT_TRUE(m.erase(k));
    if (GetParam() == cubby::shrink_policy::manual) {
      ASSERT_TRUE(m.shrink_to_fit());
    }
    EXPECT_LT(m.capacity(), full) << "it has not shrunk";
  }
}
INSTANTIATE_TEST_SUITE_P(of, seph_refills,
                         ::testing::Values(cubby::shrink_policy::manual, cubby::shrink_policy::automatic));

/// The entries of one region stay, and the rest of the table is erased and merged away. The region takes more than the table had before.
TEST(seph_dense_regions, grow_after_the_rest_was_erased) {
  chosen_map m(small_segments(cubby::shrink_policy::manual));
  constexpr unsigned zeros = 6;
  constexpr std::uint64_t all = 200'000;
  constexpr std::uint64_t kept = all >> zeros;
  for (std::uint64_t n = 0; n < all; ++n) ASSERT_EQ(m.try_insert(key_behind(0, n), n), outcome::inserted);
  ASSERT_GT(m.erase_if([](std::uint64_t k, std::uint64_t) { return k >> (64 - zeros) != 0; }), all - 2 * kept);
  ASSERT_TRUE(m.shrink_to_fit());
  EXPECT_LT(m.capacity(), 20 * kept);
  for (std::uint64_t n = 0; n < 20 * kept; ++n) {
    const std::uint64_t key = key_behind(zeros, n + all) | 1;
    ASSERT_NE(m.try_insert(key, n), outcome::crowded) << n << " of " << m.size();
  }
  EXPECT_GT(m.size(), 20 * kept);
}
/// Their segment would be full as well, 20 levels further down.
TEST(seph_dense_regions, are_not_made_by_keys_that_agree) {
  chosen_map m(small_segments(cubby::shrink_policy::manual));
  constexpr unsigned zeros = 24;
  std::uint64_t taken = 0;
  for (std::uint64_t n = 1; n <= 500; ++n) taken += m.try_insert(key_behind(zeros, n), n) == outcome::inserted ? 1 : 0;
  EXPECT_EQ(taken, 64U);
  EXPECT_LE(m.stats().growths, 10U);
}

} // namespace
} // namespace cubby_test
