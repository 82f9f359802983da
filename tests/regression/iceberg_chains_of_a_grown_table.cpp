// SPDX-License-Identifier: Apache-2.0
// The number of chains was that of the first size of a table. After fifteen doublings a table under churn had chains of hundreds of
// entries, and did 20,000 changes a second in place of a million.
#include "iceberg/table_of.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

namespace iceberg_engine = cubby::detail::engines::iceberg;

/// Entries in the longest chain, and in all chains.
std::pair<std::size_t, std::size_t> longest_and_all(const iceberg_words& m) {
  std::pair<std::size_t, std::size_t> out{0, 0};
  iceberg_engine::for_each_chain_array(table_of(m), [&](const iceberg_engine::chain_array& in) {
    for (std::uint64_t i = 0; i < in.count; ++i) {
      std::size_t length = 0;
      for (auto link = in.heads[i].first.load(cubby::detail::sync::relaxed); link != 0; ++length)
        link = iceberg_engine::node_at<iceberg_words_engine::policy>(link)->next.load(cubby::detail::sync::relaxed);
      out.first = std::max(out.first, length);
      out.second += length;
    }
  });
  return out;
}

TEST(iceberg_chains, of_a_table_that_has_grown_stay_short_under_churn) {
  iceberg_words m;
  std::uint64_t first = 0;
  std::uint64_t next = 0;
  // 90 per cent of the slots, so that it grows no more
  while (m.size() < 200'000 || m.size() * 100 < m.capacity() * 90) ASSERT_TRUE(m.insert(splitmix(next++), 1));
  for (std::size_t i = 0; i < 2 * m.size(); ++i) {
    ASSERT_TRUE(m.erase(splitmix(first++)));
    ASSERT_TRUE(m.insert(splitmix(next++), 1));
  }
  const auto [longest, all] = longest_and_all(m);
  EXPECT_EQ(all, m.stats().chained);
  EXPECT_GT(all, 100U) << "nothing is in chains, so this shows nothing";
  EXPECT_LE(longest, 24U) << all << " entries in chains";
}

} // namespace
} // namespace cubby_test
