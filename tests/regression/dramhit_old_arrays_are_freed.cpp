// SPDX-License-Identifier: Apache-2.0
// The array that a migration leaves behind is freed by later writes, without another migration or a call that asks for it.
// A thread that moves its last entry cannot free it, since its own pin keeps it.
#include "engines.hpp"

namespace cubby_test {
namespace {

template <class Mode>
class regression_dramhit_arrays : public ::testing::Test {};
using engines_of_arrays = ::testing::Types<word_mode<cubby::dramhit>, tuple_mode<cubby::dramhit_tuples>>;
TYPED_TEST_SUITE(regression_dramhit_arrays, engines_of_arrays);

TYPED_TEST(regression_dramhit_arrays, are_freed_by_later_writes) {
  for (const auto growth : growing_policies) {
    typename TypeParam::map m(tiny_options(growth));
    std::uint64_t n = 0;
    for (; m.stats().growths < 3; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    const auto is_tidy = [&m] { return !m.stats().migrating && m.stats().retired == 0; };
    for (std::uint64_t turn = 0; turn < 100000 && !is_tidy(); ++turn)
      ASSERT_TRUE(m.assign(TypeParam::key(turn % n), TypeParam::value(turn)));
    EXPECT_TRUE(is_tidy()) << "the old array stays mapped";
  }
}

} // namespace
} // namespace cubby_test
