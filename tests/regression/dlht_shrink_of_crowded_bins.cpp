// SPDX-License-Identifier: Apache-2.0
// A shrink whose entries do not fit the smaller index ends, in a table no larger than it was. With the modulo hash keys
// of one stride meet in one bin of the smaller index; once the table then halved and doubled for ever.
#include "dlht/stage.hpp"

namespace cubby_test {
namespace {

TEST(regression_dlht, a_shrink_of_bins_that_do_not_fit_ends) {
  for (const auto growth : {cubby::growth_policy::cooperative, cubby::growth_policy::incremental}) {
    for (const std::uint32_t factor : {2u, 0u}) {
      table_options o = tiny_options(growth);
      o.growth_factor = factor;
      cubby::map<std::uint64_t, std::uint64_t, cubby::dlht, cubby::modulo_hash<std::uint64_t>> m(o);
      ASSERT_TRUE(m.reserve(48));
      const std::uint64_t bins = m.stats().bins;
      ASSERT_EQ(bins, 32u);
      for (std::uint64_t n = 0; n < 16; ++n) ASSERT_TRUE(m.insert(5 + n * bins / 2, n)); // two bins of eight
      auto h = m.handle();
      bool shrunk = false;
      scheduler turns;
      const auto shrinker = turns.start([&] { shrunk = h.shrink_to_fit(); });
      ASSERT_TRUE(turns.finish(shrinker)) << "halves and doubles for ever";
      EXPECT_TRUE(shrunk);
      EXPECT_GT(m.stats().shrinks, 0u);
      EXPECT_LE(m.stats().bins, bins) << "with growth factor " << factor;
      for (std::uint64_t n = 0; n < 16; ++n) ASSERT_EQ(m.find(5 + n * bins / 2), n);
    }
  }
}

} // namespace
} // namespace cubby_test
