// SPDX-License-Identifier: Apache-2.0
// Growth and shrinks under a power cut at each of their drains: entries of both yards and of chains, few of them so that all states are
// tried, and many.
#include "crash/rig.hpp"

namespace cubby_test::crash {
namespace {

template <class Coding> class crash_resizes : public ::testing::Test {};
TYPED_TEST_SUITE(crash_resizes, all_codings);

template <class Coding> void insert_keys(rig<Coding>& r, token first, std::size_t count) {
  for (token key = first; key < first + count; ++key) (void)r.act({verb::insert, key, key + 1});
}
template <class Coding> void erase_keys(rig<Coding>& r, token first, std::size_t count) {
  for (token key = first; key < first + count; ++key) (void)r.act({verb::erase, key, 0});
}

TYPED_TEST(crash_resizes, of_few_entries) {
  rig<TypeParam> r(table_options(1));
  r.open();
  insert_keys(r, 1, 4);
  r.watch();
  r.work("growth", [](auto& m) { EXPECT_TRUE(m.reserve(100)); });
  (void)r.act({verb::insert, 200, 3});
  r.work("shrink", [](auto& m) { EXPECT_TRUE(m.shrink_to_fit()); });
  (void)r.act({verb::insert, 201, 3});
  r.work("growth into a segment that a shrink has left", [](auto& m) { EXPECT_TRUE(m.reserve(100)); });
  (void)r.act({verb::insert, 202, 3});
  r.close();
}
/// One bucket is full, and so are its back buckets; what has no space there is in a chain. Growth parts the keys, a shrink joins them.
TYPED_TEST(crash_resizes, of_both_yards_and_chains) {
  if (TypeParam::most_crowd < 80) GTEST_SKIP() << "no more than 64 keys may have one hash";
  rig<TypeParam> r(table_options(200), sample(20));
  r.open();
  insert_keys(r, parting, 80);
  if (TypeParam::has_zero_key) insert_keys(r, 0, 1);
  r.watch();
  r.work("growth", [](auto& m) { EXPECT_TRUE(m.reserve(400)); });
  r.work("shrink", [](auto& m) { EXPECT_TRUE(m.shrink_to_fit()); });
  r.work("growth again", [](auto& m) { EXPECT_TRUE(m.reserve(400)); });
}
/// The same where a doubling parts nothing.
TYPED_TEST(crash_resizes, of_a_crowd) {
  if (TypeParam::most_crowd < 76) GTEST_SKIP() << "no more than 64 keys may have one hash";
  rig<TypeParam> r(table_options(200), sample(12));
  r.open();
  insert_keys(r, crowd, 76);
  r.watch();
  r.work("growth", [](auto& m) { EXPECT_TRUE(m.reserve(400)); });
  erase_keys(r, crowd, 10);
  r.work("shrink", [](auto& m) { EXPECT_TRUE(m.shrink_to_fit()); });
}
/// Growth in the course of inserts, each of which moves a share; other calls meanwhile meet buckets that have moved or not.
TYPED_TEST(crash_resizes, beside_calls) {
  rig<TypeParam> r(table_options(100), sample(8));
  r.open();
  insert_keys(r, 1, 112);
  r.watch();
  insert_keys(r, 113, 8);
  EXPECT_TRUE(r.failed() || r.map().capacity() > 128) << "the table did not grow";
  for (token key = 1; key < 8; ++key) {
    if (TypeParam::has_values) (void)r.act({verb::assign, key, 50 + key});
    (void)r.act({verb::erase, key + 50, 0});
    (void)r.act({verb::insert, key + 300, 9});
  }
}
/// A table that shrinks and grows again and again, with power cuts in between: its file stays as large as it is.
TYPED_TEST(crash_resizes, again_and_again_takes_no_more_space) {
  rig<TypeParam> r(table_options(1), sample(4));
  std::size_t bytes = 0;
  for (int round = 0; round < 6 && !r.failed(); ++round) {
    r.open();
    r.watch();
    insert_keys(r, 1, 60);
    erase_keys(r, 10, 50);
    r.work("shrink", [](auto& m) { EXPECT_TRUE(m.shrink_to_fit()); });
    r.work("growth", [](auto& m) { EXPECT_TRUE(m.reserve(100)); });
    if (round == 1) bytes = r.map().stats().file_bytes;
    EXPECT_TRUE(round < 1 || r.map().stats().file_bytes == bytes) << "the file has grown";
    erase_keys(r, 1, 60);
    if (round % 2 == 0) r.cut_power();
    else r.close();
  }
}

} // namespace
} // namespace cubby_test::crash
