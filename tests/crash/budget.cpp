// SPDX-License-Identifier: Apache-2.0
// What each change costs in the domain `line`, counted: lines written back, and drains. More of them would be a loss, and fewer an error
// that the crash states would show.
#include "crash/rig.hpp"

namespace cubby_test::crash {
namespace {

struct cost {
  std::uint64_t lines = 0;
  std::uint64_t drains = 0;
  std::uint64_t syncs = 0;
  bool operator==(const cost&) const = default;
};
std::ostream& operator<<(std::ostream& to, const cost& c) {
  return to << c.lines << " lines, " << c.drains << " drains, " << c.syncs << " syncs";
}

template <class Coding> class crash_budget : public ::testing::Test {
protected:
  cost of(verb what, token key, token value = 1) {
    const medium& m = r.domain();
    const cost before{m.lines(), m.drains(), m.syncs()};
    (void)r.act({what, key, value});
    return {m.lines() - before.lines, m.drains() - before.drains, m.syncs() - before.syncs};
  }
  rig<Coding> r{table_options(200)};
};
TYPED_TEST_SUITE(crash_budget, slot_codings);

constexpr cost nothing{0, 0, 0};
constexpr cost one_line{1, 1, 0};

/// The same in both yards and in chains, once the overflow has its extent.
TYPED_TEST(crash_budget, one_line_and_one_drain_for_each_change) {
  this->r.open();
  for (token key = crowd; key < crowd + 73; ++key) (void)this->r.act({verb::insert, key, 1});
  for (const token key : {token{7}, crowd + 3, crowd + 60, crowd + 72, crowd + 80}) {
    (void)this->r.act({verb::erase, key, 0});
    EXPECT_EQ(this->of(verb::insert, key), one_line) << key;
    EXPECT_EQ(this->of(verb::insert, key), nothing) << key;
    EXPECT_EQ(this->of(verb::find, key), nothing) << key;
    if (TypeParam::has_values) {
      EXPECT_EQ(this->of(verb::assign, key, 2), one_line) << key;
      EXPECT_EQ(this->of(verb::update, key, 2), one_line) << key;
      EXPECT_EQ(this->of(verb::modify, key, 2), one_line) << key;
      EXPECT_EQ(this->of(verb::insert_or_assign, key, 2), one_line) << key;
    }
    EXPECT_EQ(this->of(verb::erase, key), one_line) << key;
    EXPECT_EQ(this->of(verb::erase, key), nothing) << key;
    EXPECT_EQ(this->of(verb::find, key), nothing) << key;
  }
}
TYPED_TEST(crash_budget, the_same_for_the_zero_key) {
  if (!TypeParam::has_zero_key) GTEST_SKIP() << "its commit word is never 0";
  this->r.open();
  (void)this->r.act({verb::insert, 0, 1});
  (void)this->r.act({verb::erase, 0, 0});
  EXPECT_EQ(this->of(verb::insert, 0), one_line);
  if (TypeParam::has_values) {
    EXPECT_EQ(this->of(verb::assign, 0, 2), one_line);
  }
  EXPECT_EQ(this->of(verb::erase, 0), one_line);
}

/// A record costs its own lines and a drain beside those of its slot. Its block of 48 bytes lies in one line or in two.
using crash_budget_of_texts = crash_budget<texts_in<cubby::iceberg>>;
TEST_F(crash_budget_of_texts, the_lines_of_the_record_and_one) {
  r.open();
  (void)r.act({verb::insert, 3, 5}); // takes the extent of this size
  for (token key = 6; key < 60; key += 3) {
    for (const verb what : {verb::insert, verb::assign}) {
      const cost is = of(what, key, 5); // 32 bytes and two short texts
      EXPECT_TRUE(is == (cost{2, 2, 0}) || is == (cost{3, 2, 0})) << is;
    }
    EXPECT_EQ(of(verb::erase, key), one_line);
    EXPECT_EQ(of(verb::erase, key), nothing);
  }
}

} // namespace
} // namespace cubby_test::crash
