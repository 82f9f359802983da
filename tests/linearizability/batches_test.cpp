// SPDX-License-Identifier: Apache-2.0
// The checker on batches, on requests that lacked memory or space, on whole histories of many keys, and on a million
// operations.
#include <chrono>
#include <cstdio>

#include <gtest/gtest.h>

#include "linearizability/checker.hpp"
#include "linearizability/simulated.hpp"

namespace cubby_test {
namespace {

record request(verb what, std::uint64_t key, std::uint64_t argument, std::uint64_t result, bool ok,
               status how = status::answered) {
  record r;
  r.what = what;
  r.key = key;
  r.argument = argument;
  r.result = result;
  r.ok = ok;
  r.how = how;
  return r;
}

/// Grows record by record; a batch's requests get their positions.
struct history_of {
  std::vector<record> records;
  history_of& call(std::uint16_t thread, std::uint64_t called, std::uint64_t returned, record r) {
    return group(grouping::single, thread, called, returned, {r});
  }
  history_of& group(grouping g, std::uint16_t thread, std::uint64_t called, std::uint64_t returned,
                    std::vector<record> requests) {
    std::uint16_t position = 0;
    for (record& r : requests) {
      r.thread = thread;
      r.called = called;
      r.returned = returned;
      r.group = g;
      r.position = position++;
      records.push_back(r);
    }
    return *this;
  }
  [[nodiscard]] judgement key_by_key() const { return check_history(records).what; }
  [[nodiscard]] judgement together() const { return check_together(records).what; }
};

const record inserts_1 = request(verb::insert, 1, 5, 0, true);
const record inserts_2 = request(verb::insert, 2, 6, 0, true);
const record finds_1 = request(verb::find, 1, 0, 5, true);
const record finds_2 = request(verb::find, 2, 0, 6, true);
const record misses_1 = request(verb::find, 1, 0, 0, false);

TEST(checker_of_batches, keeps_the_order_of_requests_on_one_key) {
  const record takes_1 = request(verb::extract, 1, 0, 5, true);
  for (const auto g : {grouping::ordered, grouping::stopping}) {
    EXPECT_EQ(history_of().group(g, 0, 1, 9, {inserts_1, finds_1, takes_1}).key_by_key(), judgement::linearizable);
  }
  for (const auto& wrong : {std::vector{finds_1, inserts_1, takes_1}, std::vector{inserts_1, takes_1, finds_1}}) {
    EXPECT_EQ(history_of().group(grouping::ordered, 0, 1, 9, wrong).key_by_key(), judgement::refused);
  }
  // Requests of others may come between: a batch is not a transaction.
  EXPECT_EQ(history_of()
                .group(grouping::ordered, 0, 1, 9, {inserts_1, misses_1, inserts_1})
                .call(1, 2, 3, takes_1)
                .call(1, 4, 5, request(verb::contains, 1, 0, 0, false))
                .key_by_key(),
            judgement::linearizable);
}

TEST(checker_of_batches, sees_the_order_across_keys_when_they_are_judged_together) {
  // A thread sees the second insert of the batch, and not the first.
  const auto wrong = history_of()
                         .group(grouping::ordered, 0, 1, 20, {inserts_1, inserts_2})
                         .call(1, 2, 3, finds_2)
                         .call(1, 4, 5, misses_1);
  EXPECT_EQ(wrong.key_by_key(), judgement::linearizable) << "each key alone has an order";
  EXPECT_EQ(wrong.together(), judgement::refused);
  const auto right = history_of()
                         .group(grouping::ordered, 0, 1, 20, {inserts_1, inserts_2})
                         .call(1, 2, 3, misses_1)
                         .call(1, 4, 5, finds_2)
                         .call(1, 6, 7, finds_1);
  EXPECT_EQ(right.together(), judgement::linearizable);
}

TEST(checker_of_batches, refuses_what_is_executed_behind_the_first_failure) {
  const record skipped = request(verb::insert, 2, 6, 0, false, status::not_executed);
  EXPECT_EQ(history_of().group(grouping::stopping, 0, 1, 9, {misses_1, skipped}).key_by_key(), judgement::linearizable);
  EXPECT_EQ(history_of().group(grouping::stopping, 0, 1, 9, {misses_1, inserts_2}).key_by_key(), judgement::refused);
  EXPECT_EQ(history_of().group(grouping::stopping, 0, 1, 9, {inserts_1, skipped}).key_by_key(), judgement::refused)
      << "nothing had failed";
  EXPECT_EQ(history_of().group(grouping::ordered, 0, 1, 9, {misses_1, skipped}).key_by_key(), judgement::refused)
      << "all were to be executed";
  EXPECT_EQ(history_of().call(0, 1, 9, skipped).key_by_key(), judgement::refused) << "no batch at all";
  // What was not executed has no effect.
  EXPECT_EQ(history_of().group(grouping::stopping, 0, 1, 9, {misses_1, skipped}).call(0, 10, 11, finds_2).key_by_key(),
            judgement::refused);
}

TEST(checker_of_batches, refuses_a_batch_with_a_request_missing) {
  auto h = history_of().group(grouping::ordered, 0, 1, 9, {inserts_1, inserts_2, finds_1});
  h.records.erase(h.records.begin() + 1);
  EXPECT_EQ(h.key_by_key(), judgement::refused);
}

TEST(checker_of_batches, leaves_unordered_lookups_of_one_key_unchecked) {
  EXPECT_EQ(
      history_of().group(grouping::unordered, 0, 1, 9, {misses_1, request(verb::find, 2, 0, 0, false)}).key_by_key(),
      judgement::linearizable);
  const auto twice = history_of().group(grouping::unordered, 0, 1, 9, {misses_1, misses_1});
  EXPECT_EQ(twice.key_by_key(), judgement::not_checked);
}

TEST(checker, knows_the_verbs_that_batches_and_sums_add) {
  EXPECT_EQ(history_of()
                .call(0, 1, 2, request(verb::put, 1, 5, 0, true))
                .call(0, 3, 4, request(verb::put, 1, 6, 0, true))
                .call(0, 5, 6, request(verb::add, 1, 10, 0, false))
                .call(0, 7, 8, request(verb::find, 1, 0, 16, true))
                .call(0, 9, 10, request(verb::contains, 1, 0, 0, true))
                .call(0, 11, 12, request(verb::erase, 1, 0, 0, true))
                .call(0, 13, 14, request(verb::add, 1, 7, 0, true))
                .call(0, 15, 16, request(verb::extract, 1, 0, 7, true))
                .call(0, 17, 18, request(verb::contains, 1, 0, 0, false))
                .key_by_key(),
            judgement::linearizable);
  const auto after_insert = [](const record& r) { return history_of().call(0, 1, 2, inserts_1).call(0, 3, 4, r); };
  EXPECT_EQ(after_insert(request(verb::contains, 1, 0, 0, false)).key_by_key(), judgement::refused);
  EXPECT_EQ(after_insert(request(verb::add, 1, 1, 0, true)).key_by_key(), judgement::refused);
  EXPECT_EQ(after_insert(request(verb::add, 1, 1, 0, false)).call(0, 5, 6, finds_1).key_by_key(), judgement::refused);
  EXPECT_EQ(after_insert(request(verb::put, 1, 6, 0, true)).call(0, 5, 6, finds_1).key_by_key(), judgement::refused);
}

TEST(checker, takes_a_lack_of_memory_or_space_for_no_effect) {
  const record starved = request(verb::insert, 1, 5, 0, false, status::no_memory);
  EXPECT_EQ(history_of().call(0, 1, 2, starved).call(0, 3, 4, misses_1).key_by_key(), judgement::linearizable);
  EXPECT_EQ(history_of().call(0, 1, 2, starved).call(0, 3, 4, finds_1).key_by_key(), judgement::refused);
  EXPECT_EQ(history_of().call(0, 1, 2, request(verb::erase, 1, 0, 0, false, status::no_memory)).key_by_key(),
            judgement::refused)
      << "an erase needs none";
  const record no_space = request(verb::insert, 1, 5, 0, false, status::full);
  EXPECT_EQ(history_of().call(0, 1, 2, no_space).call(0, 3, 4, misses_1).key_by_key(), judgement::linearizable);
  EXPECT_EQ(history_of().call(0, 1, 2, inserts_1).call(0, 3, 4, no_space).key_by_key(), judgement::refused)
      << "the key was there";
}

TEST(checker, refuses_a_history_for_one_key_and_counts_the_others) {
  history_of h;
  h.call(0, 1, 2, request(verb::insert, 3, 5, 0, false, status::unknown)); // not checked
  h.call(0, 3, 4, finds_2);                                                // refused
  h.call(0, 5, 6, inserts_1);
  const finding f = check_history(h.records);
  EXPECT_EQ(f.what, judgement::refused);
  EXPECT_EQ(f.key, 2u);
  EXPECT_EQ(f.keys, 3u);
  EXPECT_EQ(f.keys_refused, 1u);
  EXPECT_EQ(f.keys_not_checked, 1u);
  h.records.erase(h.records.begin() + 1);
  EXPECT_EQ(h.key_by_key(), judgement::not_checked) << "one key that was not checked keeps the history from passing";
}

TEST(checker, judges_at_most_a_few_keys_together) {
  history_of h;
  for (std::uint64_t k = 0; k < keys_together; ++k) h.call(0, k * 2, k * 2 + 1, request(verb::find, k, 0, 0, false));
  EXPECT_EQ(h.together(), judgement::linearizable);
  h.call(0, 100, 101, request(verb::find, 100, 0, 0, false));
  EXPECT_EQ(h.together(), judgement::not_checked);
}

TEST(checker, judges_a_million_operations_over_1024_keys) {
  random_source random(3);
  auto history = simulated(random, 1000000, 4, 1024);
  const auto begin = std::chrono::steady_clock::now();
  finding f = check_history(history);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("1000000 operations over %zu keys: %.2f s\n", f.keys, took.count());
  EXPECT_EQ(f.what, judgement::linearizable) << f.text;
  EXPECT_EQ(f.keys, 1024u);
  std::size_t at = 500000;
  while (!(history[at].ok && history[at].what == verb::find)) ++at;
  history[at].result = ~std::uint64_t{0};
  f = check_history(history);
  EXPECT_EQ(f.what, judgement::refused);
  EXPECT_EQ(f.key, history[at].key);
  EXPECT_EQ(f.keys_refused, 1u);
}

} // namespace
} // namespace cubby_test
