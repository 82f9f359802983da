// SPDX-License-Identifier: Apache-2.0
// Guarantee A with threads. Histories of every verb are recorded on hot keys of tiny tables, which other calls make
// grow, shrink and reuse slots, under random pauses between atomic steps. Each history has an order for every key.
// Guarantee D: a batch's requests have one that keeps theirs, across keys too.
#include <vector>

#include "linearizability/acts.hpp"
#include "linearizability/checker.hpp"

namespace cubby_test {
namespace {

template <class Coding>
void expect_linearizable(const plan& p, std::uint64_t salt) {
  const auto history = record_history<Coding>(p, salt);
  ASSERT_GE(history.size(), p.threads * p.calls * p.rounds);
  const finding f = check_history(history);
  ASSERT_EQ(f.what, judgement::linearizable) << f.text;
}

template <class Coding>
class linearizability : public ::testing::Test {};
/// `reference` shows that what is right passes; part `histories` of the long command records it with records and as a set.
template <class Line>
using usual_word_coding = word_coding<typename Line::engine, typename hashes_of<typename Line::engine>::usual>;
template <class Line>
using hot_record_coding = record_coding<typename Line::engine, typename hashes_of<typename Line::engine>::hot>;
/// Texts in slots: short ones and those with key records, usual and hot.
template <class Line>
using texts_of =
    types_if<Line::wide_slots, text_coding<typename Line::engine, typename hashes_of<typename Line::engine>::usual>,
             text_coding<typename Line::engine, typename hashes_of<typename Line::engine>::hot>>;
template <class Line>
using codings_of =
    join<types_if<Line::records && Line::shared, usual_word_coding<Line>>,
         types_if<Line::records && Line::shared && !Line::lookups_lock, hot_record_coding<Line>>, texts_of<Line>,
         types_if<Line::tuples, record_coding<typename Line::engine>, hot_record_coding<Line>>>;
/// The default engine also with what most users have: spread records, crowded words, and a set.
using more_codings = ::testing::Types<record_coding<cubby::dlht>, word_coding<cubby::dlht, clustered_hash>,
                                      set_coding<cubby::dlht, clustered_hash>>;
using codings = join<join_over<codings_of, listed_engines>, more_codings>;
TYPED_TEST_SUITE(linearizability, codings);

TYPED_TEST(linearizability, of_mixed_verbs_while_the_table_grows_and_shrinks) {
  std::uint64_t salt = 1000;
  for (const auto growth : growing_policies) {
    for (const unsigned threads : {2u, 3u, 4u}) {
      plan p;
      p.options = tiny_options(growth);
      p.threads = threads;
      p.keys = threads == 2 ? 1 : threads == 3 ? 3 : 8;
      p.calls = scaled(600);
      expect_linearizable<TypeParam>(p, ++salt);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(linearizability, of_mixed_verbs_on_one_key_at_rest) {
  plan p;
  p.calls = scaled(2000);
  p.resize = false;
  for (const std::uint64_t rarity : {4u, 30u, 1000u}) {
    p.rarity = rarity;
    expect_linearizable<TypeParam>(p, 1100 + rarity);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TYPED_TEST(linearizability, of_eight_threads_on_one_key_with_joins_between) {
  plan p;
  p.threads = 8;
  p.calls = 25;
  p.rounds = scaled(10);
  expect_linearizable<TypeParam>(p, 1150);
}

TYPED_TEST(linearizability, of_each_pair_of_verbs) {
  std::uint64_t salt = 1200;
  std::uint64_t number =
      run_seed(); // of the pair: a run that takes every fifth one begins with another one than the run before
  for (std::uint64_t a = 0; a < recorded_acts; ++a) {
    for (std::uint64_t b = a; b < recorded_acts; ++b) {
      if (++number % sparse_stride(5) != 0) continue;
      plan p;
      p.favoured = {static_cast<act>(a), static_cast<act>(b), act::insert};
      p.keys = 1 + (a + b) % 2;
      p.calls = scaled(50);
      p.resize = b % 2 == 0;
      p.rarity = 8;
      expect_linearizable<TypeParam>(p, ++salt);
      if (::testing::Test::HasFatalFailure()) {
        ADD_FAILURE() << "verbs " << a << " and " << b;
        return;
      }
    }
  }
}

/// Few distinct values, so that an old value comes back while a call is on its way: what unique values cannot show.
TYPED_TEST(linearizability, of_values_that_come_back) {
  for (std::uint64_t salt = 1600; salt < 1610; ++salt) {
    plan p;
    p.threads = 4;
    p.calls = scaled(300);
    p.rarity = 6;
    p.resize = false;
    p.values = 2;
    expect_linearizable<TypeParam>(p, salt);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

/// All keys judged at once: a thread that sees a later request of a batch sees the earlier ones, whatever their keys.
TYPED_TEST(linearizability, of_batches_across_their_keys) {
  for (std::uint64_t salt = 1700; salt < 1700 + scaled(40); ++salt) {
    plan p;
    p.keys = 3;
    p.calls = 20;
    p.rarity = 6;
    p.resize = salt % 2 == 0;
    p.favoured = {act::execute, act::execute_stopping, act::find, act::extract};
    p.favoured_only = true;
    const finding f = check_together(record_history<TypeParam>(p, salt));
    ASSERT_EQ(f.what, judgement::linearizable) << f.text;
    ASSERT_EQ(f.keys, 1u) << "an empty history";
  }
}

/// Index memory comes and goes: a verb that answers that there was none has had no effect.
TYPED_TEST(linearizability, of_verbs_that_lack_memory) {
  std::uint64_t salt = 1800;
  for (const auto growth : growing_policies) {
    plan p;
    p.options = tiny_options(growth);
    p.keys = 40; // enough to need link buckets and growth themselves
    p.calls = scaled(600);
    p.scarce = true;
    expect_linearizable<TypeParam>(p, ++salt);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

} // namespace
} // namespace cubby_test
