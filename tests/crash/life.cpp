// SPDX-License-Identifier: Apache-2.0
// A table's life under power cuts: when it is made, opened, recovered and closed, and through generations of cuts.
#include "crash/rig.hpp"

namespace cubby_test::crash {
namespace {

template <class Coding> class crash_life : public ::testing::Test {};
TYPED_TEST_SUITE(crash_life, all_codings);

TYPED_TEST(crash_life, from_create_to_the_second_close) {
  rig<TypeParam> r(table_options(1), sample(400));
  r.watch();
  r.open();
  (void)r.act({verb::insert, 1, 1}); // the first record takes an extent
  (void)r.act({verb::insert, 2, 2});
  r.close();
  r.open();
  (void)r.act({verb::erase, 1, 0});
  (void)r.act({verb::insert, 3, 3});
  r.close();
}

/// The first entry that has no space in either yard takes an extent.
TYPED_TEST(crash_life, first_overflow) {
  if (TypeParam::most_crowd < 73) GTEST_SKIP() << "no more than 64 keys may have one hash";
  rig<TypeParam> r(table_options(200), sample(400));
  r.open();
  for (token key = crowd; key < crowd + 72; ++key) (void)r.act({verb::insert, key, 1});
  r.watch();
  (void)r.act({verb::insert, crowd + 72, 1});
}

/// Opened after a power cut, again and again; each time some calls, some of them in the middle of a growth.
TYPED_TEST(crash_life, generations) {
  rig<TypeParam> r(table_options(1), sample(6));
  random_source random(11);
  for (std::uint64_t generation = 0; generation < at_least(8) && !r.failed(); ++generation) {
    r.watch();
    r.open();
    r.watch(false);
    for (int i = 0; i < 40; ++i) {
      const token key = random.below(90) + (TypeParam::has_zero_key ? 0 : 1);
      const auto what = static_cast<verb>(random.below(TypeParam::has_values ? 7 : 2));
      const verb of_sets = what == verb::find ? verb::insert : verb::erase;
      r.watch(i > 30);
      (void)r.act({TypeParam::has_values ? what : of_sets, key, generation * 100 + 1});
      if (i % 20 == 10) r.work("growth", [](auto& m) { EXPECT_TRUE(m.reserve(100)); });
      if (i % 20 == 19) r.work("shrink", [](auto& m) { EXPECT_TRUE(m.shrink_to_fit()); });
    }
    if (r.failed()) break;
    if (generation % 4 == 3) r.close();
    else r.cut_power();
  }
}

} // namespace
} // namespace cubby_test::crash
