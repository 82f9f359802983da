// SPDX-License-Identifier: Apache-2.0
// Every change of an entry under a power cut at each of its moments: in the front bucket, in the back yard, in a chain, and the zero key.
#include "crash/rig.hpp"

namespace cubby_test::crash {
namespace {

template <class Coding> class crash_operations : public ::testing::Test {};
TYPED_TEST_SUITE(crash_operations, all_codings);

/// All changes of one key, and of another one that gets its slot.
template <class Coding> void change_all_ways(rig<Coding>& r, token key, token other) {
  const bool maps = Coding::has_values;
  (void)r.act({verb::insert, key, 1});
  (void)r.act({verb::insert, key, 2});
  if (maps) {
    (void)r.act({verb::assign, key, 3});
    (void)r.act({verb::update, key, 4});
    (void)r.act({verb::modify, key, 5});
    (void)r.act({verb::insert_or_assign, key, 6});
  }
  (void)r.act({verb::erase, key, 0});
  (void)r.act({verb::insert, other, 7}); // in the slot of the first
  (void)r.act({verb::erase, key, 0});
  (void)r.act({verb::erase, other, 0});
  if (maps) (void)r.act({verb::insert_or_assign, key, 8});
  if (maps) (void)r.act({verb::assign, other, 9});
  (void)r.act({verb::insert, key, 10});
}

/// A table with so many keys in one bucket: the next one goes to the front yard, to the back yard, or to a chain.
template <class Coding> void changes_beside(std::size_t size) {
  rig<Coding> r(table_options(200));
  r.open();
  for (token key = 0; key < size; ++key) (void)r.act({verb::insert, crowd + key, key + 1});
  r.watch();
  change_all_ways(r, crowd + 500, crowd + 501);
}
TYPED_TEST(crash_operations, in_the_front_yard) { changes_beside<TypeParam>(3); }
TYPED_TEST(crash_operations, in_the_back_yard) { changes_beside<TypeParam>(56); }
TYPED_TEST(crash_operations, in_a_chain) {
  if (TypeParam::most_crowd < 74) GTEST_SKIP() << "no more than 64 keys may have one hash";
  changes_beside<TypeParam>(72);
}

TYPED_TEST(crash_operations, of_the_zero_key) {
  if (!TypeParam::has_zero_key) GTEST_SKIP() << "its commit word is never 0";
  rig<TypeParam> r(table_options(1));
  r.open();
  (void)r.act({verb::insert, 3, 1});
  r.watch();
  change_all_ways(r, 0, 4);
  change_all_ways(r, 5, 0);
}

} // namespace
} // namespace cubby_test::crash
