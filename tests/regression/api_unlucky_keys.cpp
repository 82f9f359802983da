// SPDX-License-Identifier: Apache-2.0
// A few keys whose hashes agree, by bad luck or by somebody's choice, cost a bounded multiple of the table, and the insert that
// is refused for them says so.
#include <string>

#include <cubby/delegated_map.hpp>

#include "engines.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

using cubby::outcome;

/// A hash that a thread that chooses the keys chooses, too. Keys that differ in the last eight bits alone share it.
struct chosen_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key & ~std::uint64_t{0xff}; }
};
constexpr std::uint64_t common = std::uint64_t{0xabcdef} << 40;
/// Keys whose hashes agree in the first 24 bits, or in the last 24 of those that are not 0.
constexpr std::uint64_t same_start(std::uint64_t n) { return common | splitmix(n) >> 24; }
constexpr std::uint64_t same_end(std::uint64_t n) { return splitmix(n) << 32 | 0xabcdef00; }
constexpr std::uint64_t same_hash(std::uint64_t n) { return common | n; }

template <class Engine>
class regression_api_unlucky_keys : public ::testing::Test {
protected:
  using map = cubby::map<std::uint64_t, std::uint64_t, Engine, chosen_hash>;
  static constexpr bool is_bounded = map::capabilities.bounded_bins;

  /// Fills `m` with entries whose hashes are good; the bytes that it has then.
  static std::size_t fill(map& m, std::uint64_t entries) {
    random_source random(80);
    for (std::uint64_t n = 0; n < entries; ++n) {
      const std::uint64_t key = random.next() & ~std::uint64_t{0xff};
      EXPECT_EQ(m.try_insert(key, n), outcome::inserted) << "seed " << run_seed();
    }
    m.reserve(0);
    return m.stats().bytes;
  }
  /// Inserts `count` keys; how many were refused, each as crowded.
  template <class Key>
  static std::uint64_t refused(map& m, std::uint64_t count, Key key) {
    std::uint64_t missing = 0;
    for (std::uint64_t n = 0; n < count; ++n) {
      const outcome how = m.try_insert(key(n), n);
      const bool is_in = how == outcome::inserted;
      EXPECT_TRUE(is_in || how == outcome::crowded);
      EXPECT_EQ(m.find(key(n)), is_in ? std::optional(n) : std::nullopt);
      missing += is_in ? 0 : 1;
    }
    return missing;
  }
};
TYPED_TEST_SUITE(regression_api_unlucky_keys, every_plain_engine);

TYPED_TEST(regression_api_unlucky_keys, cost_four_times_the_table_at_most) {
  for (const auto growth : growing_policies) {
    cubby::options o;
    o.growth = growth;
    typename TestFixture::map m(o);
    const std::size_t before = this->fill(m, 30000);
    const std::size_t bins = m.stats().bins;
    (void)this->refused(m, 40, same_start);
    (void)this->refused(m, 40, same_end);
    // Other bins as well: not four times for each.
    for (std::uint64_t bin = 1; bin < 6; ++bin)
      (void)this->refused(m, 40, [bin](std::uint64_t n) { return same_start(n) ^ bin << 60; });
    m.reserve(0);
    const auto now = m.stats();
    EXPECT_LE(now.bins, bins * 4);
    EXPECT_LE(now.bytes, before * 12) << now.retired << " of the smaller ones are not freed yet";
  }
}

/// What the user reserves counts as the table's size, also where crowded bins have made the table as large already.
TEST(regression_dlht_unlucky_keys, may_have_four_times_what_was_reserved) {
  cubby::map<std::uint64_t, std::uint64_t, cubby::dlht, chosen_hash> m;
  for (std::uint64_t n = 0; n < 30000; ++n) ASSERT_TRUE(m.insert(splitmix(n) << 8, n));
  m.reserve(0);
  const auto crowd = [&m](std::uint64_t salt) {
    for (std::uint64_t n = 0; n < 40; ++n) (void)m.try_insert(same_start(n) ^ salt << 60, n);
    m.reserve(0);
    return m.stats().bins;
  };
  const std::size_t most = crowd(0);
  ASSERT_EQ(crowd(1), most) << "as large as crowds make it";
  ASSERT_TRUE(m.reserve(most + most / 4));
  ASSERT_EQ(m.stats().bins, most) << "there was space";
  EXPECT_GT(crowd(2), most);
}

TYPED_TEST(regression_api_unlucky_keys, cost_a_fixed_table_no_place) {
  cubby::options o;
  o.growth = cubby::growth_policy::fixed;
  o.capacity = 3000;
  typename TestFixture::map m(o);
  const std::size_t before = m.stats().bytes;
  (void)this->refused(m, 40, same_start);
  (void)this->refused(m, 40, same_hash);
  random_source random(81);
  for (std::uint64_t n = m.size(); n < o.capacity;) {
    const outcome how = m.try_insert(random.next() & ~std::uint64_t{0xff}, n);
    ASSERT_NE(how, outcome::full) << n << " seed " << run_seed();
    n += how == outcome::inserted ? 1 : 0; // a key that meets the crowd in its bin is refused, too
  }
  EXPECT_EQ(m.try_insert(random.next(), 1), outcome::full);
  m.shrink_to_fit(); // frees what was replaced
  EXPECT_TRUE((std::is_same_v<TypeParam, cubby::reference>) || m.stats().bytes <= before * 4 + 24 * 3000);
}

TYPED_TEST(regression_api_unlucky_keys, of_one_hash_are_refused_in_their_own_words) {
  typename TestFixture::map m;
  (void)this->fill(m, 1000);
  const std::uint64_t missing = this->refused(m, 100, same_hash);
  constexpr bool has_many = std::is_same_v<TypeParam, cubby::relativistic> || std::is_same_v<TypeParam, cubby::seph>;
  const std::uint64_t most = has_many ? 64 : 15;
  if (!this->is_bounded) {
    EXPECT_EQ(missing, 0u);
    return;
  }
  EXPECT_GE(missing, 100 - most);
  EXPECT_LE(missing, 100 - most + 5) << "others lie in the same bin";
  std::string said;
  try {
    m.insert(same_hash(200), 1);
    ADD_FAILURE() << "it was inserted";
  } catch (const cubby::table_crowded& why) {
    said = why.what();
  }
  EXPECT_NE(said.find("agree in their hash"), std::string::npos) << said;
  EXPECT_NE(said.find("use a better hash"), std::string::npos) << said;
  EXPECT_THROW(m.insert_or_assign(same_hash(200), 1), cubby::table_full) << "the more general one, too";
  for (std::uint64_t n = 0; n < 100; ++n) m.erase(same_hash(n));
  EXPECT_TRUE(m.insert(same_hash(200), 1)) << "the bin is usable again";
}

/// Nothing is refused there: the keys make a long search.
TEST(regression_api_unlucky_keys_of_partitions, are_all_taken) {
  cubby::delegated_map<std::uint64_t, std::uint64_t, chosen_hash> m;
  auto h = m.handle();
  random_source random(82);
  for (std::uint64_t n = 0; n < 30000; ++n) h.insert_or_assign(random.next() & ~std::uint64_t{0xff}, n);
  ASSERT_TRUE(h.flush());
  const std::size_t before = m.stats().bytes;
  for (std::uint64_t n = 0; n < 100; ++n) {
    h.insert_or_assign(same_start(n), n);
    h.insert_or_assign(same_hash(n), n);
  }
  ASSERT_TRUE(h.flush());
  for (std::uint64_t n = 0; n < 100; ++n) {
    ASSERT_EQ(m.find(same_start(n)), n);
    ASSERT_EQ(m.find(same_hash(n)), n);
  }
  EXPECT_LE(m.stats().bytes, before * 4);
}

} // namespace
} // namespace cubby_test
