// SPDX-License-Identifier: Apache-2.0
// Tables in the domain `byte`, where caches survive a power cut: each store is durable before the next one of its thread, and nothing is written
// back. Every change is cut at each of its stores. And what a change costs: one fence.
#include "crash/rig.hpp"

namespace cubby_test::crash {
namespace {

template <class Coding> class crash_bytes : public ::testing::Test {
protected:
  void open() {
    r.open();
    ASSERT_EQ(r.map().domain(), cubby::persistence::byte);
  }
  /// The drains of a call, which writes no line back.
  std::uint64_t drains_of(verb what, token key, token value = 1) {
    const std::uint64_t lines = r.domain().lines();
    const std::uint64_t drains = r.domain().drains();
    (void)r.act({what, key, value});
    EXPECT_EQ(r.domain().lines(), lines) << "a line was written back";
    return r.domain().drains() - drains;
  }
  in_byte chosen;
  rig<Coding> r{table_options(200)};
};
TYPED_TEST_SUITE(crash_bytes, all_codings);

TYPED_TEST(crash_bytes, each_change_is_cut_at_each_store) {
  this->open();
  for (token key = crowd; key < crowd + 3; ++key) (void)this->r.act({verb::insert, key, 1});
  const std::uint64_t tried_before = tried().moments;
  this->r.watch();
  const token key = crowd + 500;
  std::uint64_t calls = 0;
  for (const verb what :
       {verb::insert, verb::assign, verb::update, verb::insert_or_assign, verb::erase, verb::insert}) {
    if (!TypeParam::has_values && what != verb::insert && what != verb::erase) continue;
    (void)this->r.act({what, key, ++calls});
  }
  EXPECT_GT(tried().moments - tried_before, 2 * calls) << "a moment for each return, and for some stores";
}

TYPED_TEST(crash_bytes, a_life_of_growth_and_shrinks_is_cut) {
  rig<TypeParam> grown(table_options(1), sample(2));
  random_source random(23);
  for (int generation = 0; generation < 4 && !grown.failed(); ++generation) {
    grown.watch(false);
    grown.open();
    for (int i = 0; i < 40; ++i) {
      const token key = random.below(90) + (TypeParam::has_zero_key ? 0 : 1);
      grown.watch(i > 36);
      (void)grown.act({random.one_in(3) ? verb::erase : verb::insert, key, static_cast<token>(i) + 1});
      grown.watch(false);
      if (i == 10) grown.work("growth", [](auto& m) { EXPECT_TRUE(m.reserve(100)); });
      if (i == 30) grown.work("shrink", [](auto& m) { EXPECT_TRUE(m.shrink_to_fit()); });
    }
    if (!grown.failed()) grown.cut_power();
  }
}

TYPED_TEST(crash_bytes, a_change_costs_one_fence_and_no_line) {
  this->open();
  for (const token key : {token{3}, crowd + 30}) {
    for (const token value : {token{1}, token{2}}) { // takes the extents of both sizes of records
      (void)this->r.act({verb::insert, key, value});
      (void)this->r.act({verb::erase, key, 0});
    }
    EXPECT_EQ(this->drains_of(verb::insert, key), 1U);
    EXPECT_EQ(this->drains_of(verb::insert, key), 0U);
    EXPECT_EQ(this->drains_of(verb::find, key), 0U);
    if (TypeParam::has_values) {
      for (const verb what : {verb::assign, verb::update, verb::insert_or_assign})
        EXPECT_EQ(this->drains_of(what, key), 1U);
    }
    EXPECT_EQ(this->drains_of(verb::erase, key), 1U);
    EXPECT_EQ(this->drains_of(verb::erase, key), 0U);
  }
}

} // namespace
} // namespace cubby_test::crash
