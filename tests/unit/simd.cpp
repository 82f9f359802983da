// SPDX-License-Identifier: Apache-2.0
// Every vector unit that this machine has answers what the scalar twin answers, bit for bit.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/detail/platform/simd.hpp>

#include "support/random.hpp"

namespace cubby_test::simd_tests {
namespace {

namespace simd = cubby::detail::simd;

struct alignas(64) line {
  std::uint64_t words[8];
};

/// Words of few values, so that equal ones, zeros, and words that differ in one bit meet often.
std::uint64_t some_word(random_source& random) {
  constexpr std::uint64_t usual = 0x8000000080000001u;
  switch (random.below(5)) {
  case 0: return 0;
  case 1: return usual;
  case 2: return usual ^ (std::uint64_t{1} << random.below(64));
  case 3: return std::uint64_t{1} << random.below(64);
  default: return random.next();
  }
}

class every_unit : public ::testing::TestWithParam<simd::unit> {};

TEST_P(every_unit, answers_like_the_scalar_twin) {
  const simd::match_function match = simd::matcher(GetParam());
  random_source random(6100);
  for (std::uint64_t i = 0; i < scaled(20000); ++i) {
    line one;
    for (std::uint64_t& w : one.words) w = some_word(random);
    const std::uint64_t asked = random.one_in(2) ? one.words[random.below(8)] : some_word(random);
    const simd::line_match got = match(&one, asked);
    const simd::line_match twin = simd::match_scalar(&one, asked);
    ASSERT_EQ(got.equal, twin.equal) << "line " << i;
    ASSERT_EQ(got.zero, twin.zero) << "line " << i;
  }
}

std::vector<simd::unit> units_here() {
  std::vector<simd::unit> all;
  for (const simd::unit one : simd::every_unit)
    if (simd::matcher(one) != nullptr) all.push_back(one);
  return all;
}
INSTANTIATE_TEST_SUITE_P(simd, every_unit, ::testing::ValuesIn(units_here()));

TEST(simd_scalar, names_the_slots_by_their_key_words_alone) {
  const line one{{7, 9, 0, 7, 9, 0, 7, 7}};
  const simd::line_match sevens = simd::match_scalar(&one, 7);
  EXPECT_EQ(sevens.equal, 0b1001u);
  EXPECT_EQ(sevens.zero, 0b0010u);
  EXPECT_EQ(simd::match_scalar(&one, 9).equal, 0b0100u);
  EXPECT_EQ(simd::match_scalar(&one, 0).equal, 0b0010u);
}

TEST(simd_scalar, is_there_on_every_machine) {
  EXPECT_NE(simd::matcher(simd::unit::scalar), nullptr);
  EXPECT_NE(simd::widest_matcher(), nullptr);
}

} // namespace
} // namespace cubby_test::simd_tests
