// SPDX-License-Identifier: Apache-2.0
// Churn that uses up link buckets, and then keys that crowd in one bin, make a table no larger than a fixed multiple of what its
// entries need. Once the sizes that churn had brought about counted as asked for, and crowds multiplied them by four again.
#include "engines.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

/// Keys are their own hashes, so that a test chooses bins.
struct own_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key; }
};

template <class Engine>
class regression_dlht_crowds_after_churn : public ::testing::Test {
protected:
  using map = cubby::map<std::uint64_t, std::uint64_t, Engine, own_hash>;

  static std::uint64_t fair(const map& m) { return cubby::detail::engines::dlht::bins_for(m.size()); }
  static std::uint64_t first_key(std::uint64_t bin, std::uint64_t bins) {
    return bin * (~std::uint64_t{0} / bins) + (std::uint64_t{1} << 20); // past what the division cuts off
  }
  static void fill(map& m, std::uint64_t entries) {
    for (std::uint64_t n = 1; m.size() < entries; ++n) (void)m.try_insert(splitmix(n), 1);
    ASSERT_TRUE(m.reserve(0));
  }
  /// Inserts five keys into one bin after another, and erases them.
  static void churn(map& m, std::uint64_t rounds) {
    for (std::uint64_t n = 0; n < rounds; ++n) {
      const std::uint64_t bins = m.stats().bins;
      const std::uint64_t first = first_key(n % bins, bins);
      for (std::uint64_t i = 0; i < 5; ++i) (void)m.try_insert(first + i, 1);
      for (std::uint64_t i = 0; i < 5; ++i) (void)m.erase(first + i);
    }
    ASSERT_TRUE(m.reserve(0));
  }
  /// How many of sixteen keys that only a table of 2^44 bins would part are refused.
  static unsigned crowd(map& m, std::uint64_t place) {
    unsigned refused = 0;
    for (std::uint64_t i = 0; i < 16; ++i)
      refused += m.try_insert((place << 44) + i, 1) == cubby::outcome::inserted ? 0 : 1;
    EXPECT_TRUE(m.reserve(0));
    return refused;
  }
};
using crowding_engines = ::testing::Types<cubby::dlht, cubby::dlht_single>;
TYPED_TEST_SUITE(regression_dlht_crowds_after_churn, crowding_engines);

TYPED_TEST(regression_dlht_crowds_after_churn, cost_four_times_what_entries_need) {
  for (const auto growth : growing_policies) {
    for (const std::uint64_t entries : {60u, 540u, 4300u}) {
      cubby::options o;
      o.growth = growth;
      typename TestFixture::map m(o);
      this->fill(m, entries);
      const auto before = m.stats();
      this->churn(m, 2 * before.bins);
      EXPECT_EQ(m.stats().bins, before.bins) << entries << ": there is space for all at this size";
      EXPECT_GT(m.stats().rebuilds, before.rebuilds) << entries;
      for (std::uint64_t place = 1; place < 4; ++place) {
        EXPECT_GT(this->crowd(m, 0x12345 * place), 0u);
        EXPECT_LE(m.stats().bins, 4 * this->fair(m)) << m.size();
        this->churn(m, m.stats().bins);
        EXPECT_LE(m.stats().bins, 4 * this->fair(m)) << m.size();
      }
    }
  }
}

/// A growth for the load begins at 1.8 entries a bin: eight times the bins are 6.5 times what the entries need.
TYPED_TEST(regression_dlht_crowds_after_churn, do_not_multiply_a_growth_for_the_load) {
  for (const auto growth : growing_policies) {
    cubby::options o;
    o.growth = growth;
    typename TestFixture::map m(o);
    random_source random(84);
    double most = 0;
    for (std::uint64_t n = 0; n < 40; ++n) {
      const std::uint64_t growths = m.stats().growths;
      for (std::uint64_t i = 0; i < 100; ++i) (void)m.try_insert(random.next(), 1);
      ASSERT_TRUE(m.reserve(0));
      this->churn(m, m.stats().bins / 4);
      if (m.stats().growths > growths) {
        EXPECT_GT(this->crowd(m, 0x12345 * (n + 1)), 0u);
      }
      most = std::max(most, static_cast<double>(m.stats().bins) / static_cast<double>(this->fair(m)));
    }
    EXPECT_LE(most, 6.5) << "seed " << run_seed();
    EXPECT_GT(m.stats().growths, 2u);
  }
}

TYPED_TEST(regression_dlht_crowds_after_churn, do_not_count_a_growth_for_the_load_as_asked_for) {
  typename TestFixture::map m;
  for (std::uint64_t entries = 100; m.stats().growths < 2; entries += 10) this->fill(m, entries);
  for (std::uint64_t place = 1; place < 4; ++place) EXPECT_GT(this->crowd(m, 0x12345 * place), 0u);
  EXPECT_LE(m.stats().bins, 13 * this->fair(m) / 2) << m.size();
}

/// Bins of eight entries, which need three link buckets each, and no other bin: link buckets end at 1.3 entries a bin.
TYPED_TEST(regression_dlht_crowds_after_churn, cost_no_more_where_bins_are_chosen) {
  typename TestFixture::map m;
  this->fill(m, 540);
  const std::uint64_t bins = m.stats().bins;
  for (std::uint64_t n = 0; n < 600; ++n) {
    const std::uint64_t first = this->first_key(n % bins, bins);
    for (std::uint64_t i = 0; i < 8; ++i) (void)m.try_insert(first + i * 2 + n / bins, 1);
    ASSERT_LE(m.stats().bins, 13 * this->fair(m) / 2) << m.size();
  }
}

} // namespace
} // namespace cubby_test
