// SPDX-License-Identifier: Apache-2.0
// The filters of chains. A chain has the marks of its nodes and no others, whatever came and went. So a lookup that misses reads the
// nodes of few chains, also in a table at its bound whose entries have all been replaced.
#include "iceberg/table_of.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

namespace iceberg_engine = cubby::detail::engines::iceberg;
using policy = iceberg_words_engine::policy;

constexpr std::uint64_t entries = 20'000;

cubby::iceberg::options bounded() {
  cubby::iceberg::options o;
  o.capacity = entries;
  o.growth = cubby::growth_policy::fixed;
  return o;
}
/// Key `n` of a thread.
std::uint64_t key_of(unsigned thread, std::uint64_t n) { return splitmix(2 * n + thread); }

/// Two threads fill the table to its bound and replace each of their entries ten times, in a random order.
void fill_and_churn(iceberg_words& m) {
  run_threads(2, [&](unsigned t) {
    random_source random(7100 + t);
    std::vector<std::uint64_t> mine(entries / 2);
    std::uint64_t next = 0;
    for (std::uint64_t& one : mine) {
      one = next++;
      ASSERT_EQ(m.try_insert(key_of(t, one), one), cubby::outcome::inserted);
    }
    for (std::uint64_t i = 0; i < 10 * mine.size(); ++i) {
      std::uint64_t& one = mine[random.below(mine.size())];
      ASSERT_TRUE(m.erase(key_of(t, one)));
      one = next++;
      ASSERT_EQ(m.try_insert(key_of(t, one), one), cubby::outcome::inserted);
    }
  });
}

template <class F> void for_each_chain(const iceberg_words& m, F f) {
  iceberg_engine::for_each_chain_array(table_of(m), [&](const iceberg_engine::chain_array& in) {
    for (std::uint64_t i = 0; i < in.count; ++i) f(in.heads[i]);
  });
}
/// The marks of the entries that are linked, computed anew.
std::uint64_t marks_in(const iceberg_words& m, const iceberg_engine::chain& c) {
  std::uint64_t marks = 0;
  for (auto link = c.first.load(cubby::detail::sync::relaxed); link != 0;) {
    const auto& n = *iceberg_engine::node_at<policy>(link);
    marks |= iceberg_engine::chain_marks(iceberg_engine::hash_of_slot(table_of(m).policy, n.entry()));
    link = n.next.load(cubby::detail::sync::relaxed);
  }
  return marks;
}

TEST(iceberg_chain_filters, have_the_marks_of_their_nodes_alone_after_churn_by_two_threads) {
  iceberg_words m(bounded());
  fill_and_churn(m);
  ASSERT_GT(m.stats().chained, entries / 50) << "few entries are in chains, so this shows nothing";
  for_each_chain(m, [&](const iceberg_engine::chain& c) {
    ASSERT_EQ(c.filter.load(cubby::detail::sync::relaxed), marks_in(m, c));
  });
}

TEST(iceberg_chain_filters, are_empty_when_all_entries_are_erased) {
  iceberg_words m(bounded());
  fill_and_churn(m);
  std::vector<std::uint64_t> keys;
  m.visit_all([&](std::uint64_t k, std::uint64_t) { keys.push_back(k); });
  for (const std::uint64_t k : keys) ASSERT_TRUE(m.erase(k));
  for_each_chain(m, [](const iceberg_engine::chain& c) {
    ASSERT_EQ(c.first.load(cubby::detail::sync::relaxed), 0U);
    ASSERT_EQ(c.filter.load(cubby::detail::sync::relaxed), 0U);
  });
}

TEST(iceberg_chain_filters, let_one_absent_key_in_ten_pass_at_most_at_the_bound) {
  iceberg_words m(bounded());
  fill_and_churn(m);
  ASSERT_GT(m.stats().chained, entries / 50);
  std::uint64_t pass = 0;
  constexpr std::uint64_t absent = 20'000;
  for (std::uint64_t n = 0; n < absent; ++n) {
    const std::uint64_t key = splitmix(std::uint64_t{1} << 40 | n);
    const auto& t = table_of(m);
    pass += iceberg_engine::may_be_chained(t, t.policy.probe_of(key).hash) ? 1U : 0U;
  }
  EXPECT_LT(pass, absent / 10);
  EXPECT_GT(pass, 0U) << "no filter has marks, so this shows nothing";
}

} // namespace
} // namespace cubby_test
