// SPDX-License-Identifier: Apache-2.0
// The checker itself: histories that have an order are accepted, planted ones without are refused, and what is beyond
// its bounds is `not_checked`.
#include <gtest/gtest.h>

#include "linearizability/checker.hpp"
#include "linearizability/simulated.hpp"

namespace cubby_test {
namespace {

struct call {
  std::uint16_t thread;
  std::uint64_t called, returned;
  verb what;
  std::uint64_t argument, result;
  bool ok;
};

judgement judge(std::initializer_list<call> calls, const check_limits& limits = {}) {
  std::vector<record> history;
  for (const call& c : calls)
    history.push_back({c.called, c.returned, 7, c.argument, c.result, c.what, c.ok, c.thread});
  return check_history(history, limits).what;
}

TEST(checker, accepts_the_empty_history) { EXPECT_EQ(judge({}), judgement::linearizable); }

TEST(checker, accepts_sequential_histories) {
  EXPECT_EQ(judge({{0, 1, 2, verb::find, 0, 0, false},
                   {0, 3, 4, verb::insert, 5, 0, true},
                   {0, 5, 6, verb::insert, 6, 0, false},
                   {1, 7, 8, verb::find, 0, 5, true},
                   {1, 9, 10, verb::assign, 9, 0, true},
                   {0, 11, 12, verb::update, 10, 9, true},
                   {1, 13, 14, verb::insert_or_assign, 11, 0, false},
                   {0, 15, 16, verb::extract, 0, 11, true},
                   {0, 17, 18, verb::insert_or_assign, 12, 0, true},
                   {0, 19, 20, verb::erase, 0, 0, true},
                   {1, 21, 22, verb::erase, 0, 0, false},
                   {1, 23, 24, verb::assign, 1, 0, false},
                   {1, 25, 26, verb::update, 1, 0, false},
                   {1, 27, 28, verb::extract, 0, 0, false}}),
            judgement::linearizable);
}

TEST(checker, accepts_overlapping_calls_in_either_order) {
  EXPECT_EQ(judge({{0, 1, 10, verb::insert, 5, 0, true}, {1, 2, 3, verb::find, 0, 5, true}}), judgement::linearizable);
  EXPECT_EQ(judge({{0, 1, 10, verb::insert, 5, 0, true}, {1, 2, 3, verb::find, 0, 0, false}}), judgement::linearizable);
  // Equal stamps prove no order.
  EXPECT_EQ(judge({{0, 1, 2, verb::insert, 5, 0, true}, {1, 2, 3, verb::find, 0, 0, false}}), judgement::linearizable);
}

TEST(checker, accepts_shadow_inserts) {
  EXPECT_EQ(judge({{0, 1, 2, verb::shadow_insert, 5, 0, true},
                   {1, 3, 4, verb::find, 0, 0, false},
                   {1, 5, 6, verb::insert, 6, 0, false},
                   {1, 6, 7, verb::shadow_insert, 6, 0, false},
                   {0, 8, 12, verb::shadow_commit, 5, 0, true},
                   {1, 9, 10, verb::find, 0, 5, true},
                   {1, 13, 14, verb::erase, 0, 0, true},
                   {0, 15, 16, verb::shadow_insert, 8, 0, true},
                   {0, 17, 18, verb::shadow_abort, 0, 0, true},
                   {1, 19, 20, verb::find, 0, 0, false}}),
            judgement::linearizable);
}

TEST(checker, refuses_a_find_that_misses_what_was_inserted_before) {
  EXPECT_EQ(judge({{0, 1, 2, verb::insert, 5, 0, true}, {1, 3, 4, verb::find, 0, 0, false}}), judgement::refused);
}

TEST(checker, refuses_a_value_that_was_never_there) {
  EXPECT_EQ(judge({{0, 1, 2, verb::insert, 5, 0, true}, {1, 3, 4, verb::find, 0, 6, true}}), judgement::refused);
}

TEST(checker, refuses_two_winners) {
  EXPECT_EQ(judge({{0, 1, 9, verb::insert, 5, 0, true}, {1, 1, 9, verb::insert, 6, 0, true}}), judgement::refused);
  EXPECT_EQ(judge({{0, 1, 2, verb::insert, 5, 0, true},
                   {0, 3, 9, verb::erase, 0, 0, true},
                   {1, 3, 9, verb::extract, 0, 5, true}}),
            judgement::refused);
}

TEST(checker, refuses_a_value_seen_again_after_its_successor) {
  EXPECT_EQ(judge({{0, 1, 2, verb::insert, 5, 0, true},
                   {0, 3, 20, verb::assign, 6, 0, true},
                   {1, 4, 5, verb::find, 0, 6, true},
                   {1, 6, 7, verb::find, 0, 5, true}}),
            judgement::refused);
}

TEST(checker, refuses_an_extract_of_a_replaced_value) {
  EXPECT_EQ(judge({{0, 1, 2, verb::insert, 5, 0, true},
                   {1, 3, 4, verb::assign, 6, 0, true},
                   {0, 5, 6, verb::extract, 0, 5, true}}),
            judgement::refused);
}

TEST(checker, refuses_a_lost_update) {
  EXPECT_EQ(judge({{0, 1, 2, verb::insert, 5, 0, true},
                   {0, 3, 9, verb::update, 6, 5, true},
                   {1, 3, 9, verb::update, 7, 5, true}}),
            judgement::refused);
}

TEST(checker, refuses_misses_of_a_present_key) {
  for (verb what : {verb::assign, verb::erase, verb::extract, verb::update}) {
    EXPECT_EQ(judge({{0, 1, 2, verb::insert, 5, 0, true}, {1, 3, 4, what, 6, 0, false}}), judgement::refused);
  }
  EXPECT_EQ(judge({{0, 1, 2, verb::insert, 5, 0, true}, {1, 3, 4, verb::insert_or_assign, 6, 0, true}}),
            judgement::refused);
  EXPECT_EQ(judge({{1, 3, 4, verb::insert, 6, 0, false}}), judgement::refused);
  EXPECT_EQ(judge({{1, 3, 4, verb::insert_or_assign, 6, 0, false}}), judgement::refused);
}

TEST(checker, refuses_what_a_shadow_insert_must_hide) {
  EXPECT_EQ(judge({{0, 1, 2, verb::shadow_insert, 5, 0, true}, {1, 3, 4, verb::find, 0, 5, true}}), judgement::refused);
  EXPECT_EQ(judge({{0, 1, 2, verb::shadow_insert, 5, 0, true}, {1, 3, 4, verb::erase, 0, 0, true}}),
            judgement::refused);
  EXPECT_EQ(judge({{0, 1, 2, verb::shadow_insert, 5, 0, true}, {1, 3, 4, verb::insert, 6, 0, true}}),
            judgement::refused);
  EXPECT_EQ(judge({{0, 1, 2, verb::shadow_insert, 5, 0, true},
                   {0, 3, 4, verb::shadow_commit, 5, 0, true},
                   {1, 5, 6, verb::find, 0, 0, false}}),
            judgement::refused);
}

// The schedule of the published protocol's first hole, as the issue tells it.
TEST(checker, refuses_the_assign_that_succeeds_on_a_slot_in_try_insert) {
  EXPECT_EQ(judge({{2, 1, 2, verb::insert, 5, 0, true},
                   {0, 3, 10, verb::assign, 6, 0, true},
                   {1, 4, 5, verb::erase, 0, 0, true},
                   {1, 6, 20, verb::insert, 5, 0, true},
                   {0, 11, 12, verb::find, 0, 0, false},
                   {2, 21, 22, verb::find, 0, 6, true}}),
            judgement::refused);
}

/// Lookups of absent keys, one by each thread, so many of each key.
std::vector<record> lookups_of(std::uint16_t threads, unsigned threads_per_key) {
  std::vector<record> history;
  for (std::uint16_t t = 0; t < threads; ++t) {
    record r;
    r.called = 1;
    r.returned = 2;
    r.key = t / threads_per_key;
    r.thread = t;
    history.push_back(r);
  }
  return history;
}
TEST(checker, does_not_pass_what_it_did_not_check) {
  EXPECT_EQ(judge({{0, 1, 2, verb::find, 0, 0, false}, {0, 3, 4, verb::find, 0, 0, false}}, {.records_per_key = 1}),
            judgement::not_checked);
  EXPECT_EQ(judge({{0, 1, 9, verb::insert_or_assign, 1, 0, true}, {1, 1, 9, verb::insert_or_assign, 2, 0, false}},
                  {.states_at_once = 0}),
            judgement::not_checked);
  EXPECT_EQ(judge({{0, 1, 5, verb::find, 0, 0, false}, {0, 3, 6, verb::find, 0, 0, false}}), judgement::not_checked);
  EXPECT_EQ(judge({{0, 5, 1, verb::find, 0, 0, false}}), judgement::not_checked);
  EXPECT_EQ(check_history(lookups_of(9, 9)).what, judgement::not_checked);
}

TEST(checker, takes_any_number_of_threads_if_few_of_them_call_about_one_key) {
  std::vector<record> history = lookups_of(100, 8);
  EXPECT_EQ(check_history(history).what, judgement::linearizable);
  history.back().ok = true; // nobody has inserted it
  EXPECT_EQ(check_history(history).what, judgement::refused);
}

TEST(checker, accepts_long_simulated_histories) {
  random_source random(1);
  for (unsigned threads : {1u, 2u, 4u, 8u}) {
    const auto history = simulated(random, 20000, threads);
    const finding f = check_history(history);
    EXPECT_EQ(f.what, judgement::linearizable) << f.text;
  }
}

TEST(checker, refuses_long_histories_with_one_wrong_result) {
  random_source random(2);
  for (unsigned round = 0; round < 20; ++round) {
    auto history = simulated(random, 4000, 3);
    std::size_t at = random.below(2000);
    while (!(history[at].ok && (history[at].what == verb::find || history[at].what == verb::update))) ++at;
    history[at].result = ~std::uint64_t{0}; // a value that nobody wrote
    EXPECT_EQ(check_history(history).what, judgement::refused);
  }
}

} // namespace
} // namespace cubby_test
