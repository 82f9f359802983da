// SPDX-License-Identifier: Apache-2.0
// The parts of the rig by themselves: the states that it makes of pending stores, and the oracle of calls that overlap.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "crash/oracle.hpp"
#include "crash/states.hpp"

namespace cubby_test::crash {
namespace {

/// The words of each state, as text.
std::multiset<std::string> states_of(const snapshot& of, std::uint64_t most) {
  random_source random(5);
  crash_states all(of, most, random);
  std::multiset<std::string> out;
  std::vector<std::uint32_t> choice;
  while (all.next(choice)) {
    image words = of.durable;
    for (std::size_t unit = 0; unit < choice.size(); ++unit)
      for (const placed_word& w : all.at(unit, choice[unit])) words[w.at] = w.value;
    std::string text;
    for (const std::uint64_t w : words) text += std::to_string(w) + " ";
    out.insert(text);
  }
  return out;
}

TEST(crash_states, a_unit_keeps_the_order_of_its_stores) {
  const snapshot s{{0, 0}, {{{{0, 1}}, {{1, 2}}, {{0, 3}}}}, 16};
  EXPECT_EQ(states_of(s, 100), (std::multiset<std::string>{"0 0 ", "1 0 ", "1 2 ", "3 2 "}));
}
TEST(crash_states, units_lose_theirs_independently) {
  const snapshot s{{0, 0}, {{{{0, 1}}}, {{{1, 2}}}}, 16};
  EXPECT_EQ(states_of(s, 100), (std::multiset<std::string>{"0 0 ", "1 0 ", "0 2 ", "1 2 "}));
}
TEST(crash_states, copied_words_come_in_any_order) {
  const snapshot s{{0, 0, 0}, {{{{0, 1}, {1, 2}}, {{2, 3}}}}, 24};
  EXPECT_EQ(states_of(s, 100), (std::multiset<std::string>{"0 0 0 ", "1 0 0 ", "0 2 0 ", "1 2 0 ", "1 2 3 "}));
}
TEST(crash_states, a_sample_has_the_corners) {
  snapshot s;
  s.durable.assign(20, 0);
  for (std::uint32_t unit = 0; unit < 20; ++unit) s.units.push_back({{{unit, 1}}});
  const auto some = states_of(s, 200);
  EXPECT_EQ(some.size(), 200U);
  const auto ones = [](const std::string& text) { return std::count(text.begin(), text.end(), '1'); };
  std::size_t corners = 0;
  for (auto at = some.begin(); at != some.end(); at = some.upper_bound(*at))
    corners += ones(*at) <= 1 || ones(*at) >= 19 ? 1 : 0;
  EXPECT_GE(corners, 40U);
}

TEST(crash_oracle, a_call_under_way_has_happened_or_not) {
  oracle o;
  o.begin(0, {verb::insert, 7, 3});
  EXPECT_EQ(o.allowed()->at(7), (std::vector<maybe>{{}, 3}));
  EXPECT_TRUE(o.end(0, {true, {}}));
  EXPECT_EQ(o.allowed()->at(7), (std::vector<maybe>{3}));
}
TEST(crash_oracle, what_a_thread_has_seen_counts) {
  oracle o;
  o.begin(0, {verb::insert, 7, 3});
  o.begin(1, {verb::find, 7, 0});
  EXPECT_TRUE(o.end(1, {true, 3}));
  EXPECT_EQ(o.allowed()->at(7), (std::vector<maybe>{3}));
  o.begin(1, {verb::erase, 7, 0});
  o.begin(2, {verb::insert, 7, 5});
  EXPECT_TRUE(o.end(2, {true, {}})); // so the erase came before it
  EXPECT_EQ(o.allowed()->at(7), (std::vector<maybe>{5}));
}
TEST(crash_oracle, an_answer_that_no_order_explains) {
  oracle o;
  o.begin(0, {verb::insert, 7, 3});
  o.begin(1, {verb::find, 7, 0});
  EXPECT_FALSE(o.end(1, {true, 4}));
}

} // namespace
} // namespace cubby_test::crash
