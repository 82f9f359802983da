// SPDX-License-Identifier: Apache-2.0
// A shrink that erases have begun is carried out by the calls that follow, whatever the growth policy. Once, under
// cooperative growth, no thread moved anything: the table kept both indexes until the next growth.
#include "engines.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

template <class Engine>
class regression_dlht_begun_shrink : public ::testing::Test {};
using shrinking_engines = ::testing::Types<cubby::dlht, cubby::dlht_single>;
TYPED_TEST_SUITE(regression_dlht_begun_shrink, shrinking_engines);

TYPED_TEST(regression_dlht_begun_shrink, ends_under_every_growth_policy) {
  for (const auto growth : growing_policies) {
    table_options o = tiny_options(growth);
    o.shrink = cubby::shrink_policy::automatic;
    cubby::map<std::uint64_t, std::uint64_t, TypeParam> m(o);
    ASSERT_TRUE(m.reserve(48));
    for (std::uint64_t k = 0; k < 10; ++k) ASSERT_TRUE(m.insert(k, k));
    ASSERT_TRUE(m.erase(0));
    ASSERT_EQ(m.stats().shrinks, 1u) << "the first erase looks at the size";
    // What a call does is its share; under `background` it only wakes the table's thread.
    const auto moves_on = [&] {
      for (unsigned n = 0; n < 50; ++n) {
        if (!m.insert(0, 0) || !m.erase(0)) return false;
      }
      return !m.stats().migrating;
    };
    const bool ended = growth == cubby::growth_policy::background ? eventually(moves_on) : moves_on();
    EXPECT_TRUE(ended) << "growth policy " << static_cast<int>(growth);
    EXPECT_LT(m.stats().bins, 32u);
    for (std::uint64_t k = 1; k < 10; ++k) ASSERT_EQ(m.find(k), k);
  }
}

} // namespace
} // namespace cubby_test
