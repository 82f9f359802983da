// SPDX-License-Identifier: Apache-2.0
// The number of chains was that of the first size of a table. After fifteen doublings a table under churn had chains of hundreds of
// entries, and did 20,000 changes a second in place of a million.
#include "engines.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

namespace iceberg_engine = cubby::detail::engines::iceberg;
using grown_map = cubby::map<std::uint64_t, std::uint64_t, cubby::iceberg>;
using grown_engine = std::remove_cvref_t<decltype(cubby::detail::engine_access::of(std::declval<const grown_map&>()))>;
using grown_table = iceberg_engine::table<grown_engine::policy>;

struct grown_table_key {
  friend constexpr grown_table grown_engine::* table_member(grown_table_key);
};
template <class Key, auto Member>
struct private_member {
  friend constexpr decltype(Member) table_member(Key) { return Member; }
};
template struct private_member<grown_table_key, &grown_engine::table_>;

/// Entries in the longest chain, and in all chains.
std::pair<std::size_t, std::size_t> longest_and_all(const grown_map& m) {
  const grown_table& t = cubby::detail::engine_access::of(m).*table_member(grown_table_key{});
  std::pair<std::size_t, std::size_t> out{0, 0};
  iceberg_engine::for_each_chain_array(t, [&](const iceberg_engine::chain_array& in) {
    for (std::uint64_t i = 0; i <= in.mask; ++i) {
      std::size_t length = 0;
      for (auto link = in.heads[i].first.load(cubby::detail::sync::relaxed); link != 0; ++length)
        link = iceberg_engine::node_at<grown_engine::policy>(link)->next.load(cubby::detail::sync::relaxed);
      out.first = std::max(out.first, length);
      out.second += length;
    }
  });
  return out;
}

TEST(iceberg_chains, of_a_table_that_has_grown_stay_short_under_churn) {
  grown_map m;
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
