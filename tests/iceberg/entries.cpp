// SPDX-License-Identifier: Apache-2.0
// Iceberg's entries in all three levels. Any key and value is legal, and an absent key is erased twice without harm. An
// entry behind the front bucket is never doubled, and pairs are whole while slots are filled again.
#include <algorithm>
#include <limits>
#include <vector>

#include "engines.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

/// All keys below 2^32 share a hash: 56 lie in one front bucket, the next ones in the back yard, all others in a chain.
struct one_bucket_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key >> 32 == 0 ? 5 : splitmix(key); }
};
using levels_map = cubby::map<std::uint64_t, std::uint64_t, cubby::iceberg, one_bucket_hash>;
constexpr std::uint64_t in_all_levels = 120;

TEST(iceberg_entries, of_an_absent_key_are_erased_twice_without_harm) {
  levels_map m(tiny_options());
  EXPECT_FALSE(m.erase(1));
  EXPECT_FALSE(m.erase(1));
  for (std::uint64_t k = 0; k < in_all_levels; ++k) ASSERT_TRUE(m.insert(k, k));
  for (std::uint64_t k = 0; k < in_all_levels; ++k) {
    ASSERT_TRUE(m.erase(k)) << k;
    ASSERT_FALSE(m.erase(k)) << k;
    ASSERT_FALSE(m.erase(k)) << k;
    ASSERT_FALSE(m.extract(k).has_value()) << k;
    ASSERT_EQ(m.size(), in_all_levels - k - 1);
  }
  EXPECT_FALSE(m.erase(in_all_levels));
}

TEST(iceberg_entries, may_have_any_key_and_any_value) {
  std::vector<std::uint64_t> words;
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t one = std::uint64_t{1} << bit;
    words.insert(words.end(), {one, ~one, one - 1});
  }
  words.push_back(std::numeric_limits<std::uint64_t>::max());
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  cubby::map<std::uint64_t, std::uint64_t, cubby::iceberg> m(tiny_options());
  for (std::size_t shift = 0; shift < words.size(); shift += 13) {
    const auto value_of = [&](std::size_t i) { return words[(i + shift) % words.size()]; };
    for (std::size_t i = 0; i < words.size(); ++i) ASSERT_TRUE(m.insert(words[i], value_of(i))) << words[i];
    for (std::size_t i = 0; i < words.size(); ++i) ASSERT_EQ(m.find(words[i]), value_of(i)) << words[i];
    EXPECT_EQ(m.size(), words.size());
    for (const std::uint64_t k : words) ASSERT_TRUE(m.assign(k, k));
    for (const std::uint64_t k : words) ASSERT_EQ(m.extract(k), k);
    for (const std::uint64_t k : words) ASSERT_FALSE(m.contains(k)) << k;
    EXPECT_EQ(m.size(), 0u);
  }
}

/// Space in the front bucket comes back while the key lies behind it.
TEST(iceberg_entries, behind_a_bucket_with_space_are_not_doubled) {
  for (const std::uint64_t k : {60u, 110u}) { // in the back yard, in a chain
    levels_map m(tiny_options());
    for (std::uint64_t n = 0; n < in_all_levels; ++n) ASSERT_TRUE(m.insert(n, n));
    for (std::uint64_t n = 0; n < 20; ++n) ASSERT_TRUE(m.erase(n));
    EXPECT_FALSE(m.insert(k, 7));
    EXPECT_FALSE(m.insert_or_assign(k, 8));
    EXPECT_EQ(m.try_insert(k, 9), cubby::outcome::exists);
    std::uint64_t met = 0;
    m.visit_all([&](std::uint64_t key, std::uint64_t v) { met += key == k && v == 8 ? 1 : 0; });
    EXPECT_EQ(met, 1u);
    ASSERT_TRUE(m.erase(k));
    EXPECT_FALSE(m.contains(k));
    EXPECT_EQ(m.size(), in_all_levels - 21);
  }
}

/// Two threads insert and erase one key, while others of its bucket come and go: now it lies behind, now in front.
TEST(iceberg_entries, are_not_doubled_by_inserts_that_meet) {
  levels_map m(tiny_options());
  for (std::uint64_t n = 0; n < 56; ++n) ASSERT_TRUE(m.insert(n, n));
  const std::uint64_t rounds = scaled(20000);
  std::vector<std::int64_t> balance(2, 0);
  run_threads(3, [&](unsigned t) {
    random_source random(2300 + t);
    for (std::uint64_t i = 0; i < rounds; ++i) {
      if (t == 2) {
        const std::uint64_t n = random.below(56);
        if (m.erase(n)) m.insert(n, n);
      } else if (random.one_in(2)) {
        balance[t] += m.insert(1000, t) ? 1 : 0;
      } else {
        balance[t] -= m.erase(1000) ? 1 : 0;
      }
    }
  });
  std::int64_t met = 0;
  m.visit_all([&](std::uint64_t key, std::uint64_t) { met += key == 1000 ? 1 : 0; });
  EXPECT_EQ(met, balance[0] + balance[1]);
  EXPECT_EQ(m.size(), static_cast<std::size_t>(56 + met));
  EXPECT_EQ(m.erase(1000), met == 1);
  EXPECT_FALSE(m.contains(1000));
}

struct four_words {
  std::uint64_t at[4] = {};
};

/// A writer fills few slots of one bucket again and again, with keys of the same tag: a value never stands under another key.
template <class Map, class Make, class Belongs>
void expect_whole_pairs(Make make, Belongs belongs) {
  Map m(tiny_options());
  for (std::uint64_t n = 0; n < 54; ++n) ASSERT_TRUE(m.insert(n, make(n, 0)));
  const std::uint64_t rounds = scaled(20000);
  run_threads(2, [&](unsigned t) {
    random_source random(2400 + t);
    for (std::uint64_t i = 1; i <= rounds; ++i) {
      const std::uint64_t k = 100 + random.below(8); // two in front, the others behind
      if (t == 0) {
        if (!m.insert(k, make(k, i))) {
          if (random.one_in(3)) m.assign(k, make(k, i));
          else m.erase(k);
        }
      } else if (const auto got = m.find(k)) {
        ASSERT_TRUE(belongs(k, *got)) << k;
      }
    }
  });
}
TEST(iceberg_entries, are_whole_while_slots_are_filled_again) {
  expect_whole_pairs<levels_map>([](std::uint64_t k, std::uint64_t i) { return k << 32 | i; },
                                 [](std::uint64_t k, std::uint64_t v) { return v >> 32 == k; });
}
TEST(iceberg_entries, of_several_words_are_whole_while_slots_are_filled_again) {
  using map = cubby::map<std::uint64_t, four_words, cubby::iceberg, one_bucket_hash>;
  static_assert(map::mode == cubby::storage_mode::tuples);
  expect_whole_pairs<map>([](std::uint64_t k, std::uint64_t i) { return four_words{{k, i, i + k, ~i}}; },
                          [](std::uint64_t k, const four_words& v) {
                            return v.at[0] == k && v.at[2] == v.at[1] + k && v.at[3] == ~v.at[1];
                          });
}

/// Slots are as wide as their words need, in sets as well.
TEST(iceberg_entries, take_the_bytes_of_their_words) {
  namespace layout = cubby::detail::engines::iceberg;
  EXPECT_EQ(sizeof(layout::slot<1, 1>), 16u);
  EXPECT_EQ(sizeof(layout::slot<2, 0>), 16u);
  EXPECT_EQ(sizeof(layout::slot<3, 1>), 32u);
  EXPECT_EQ(sizeof(layout::slot<4, 0>), 32u);
  EXPECT_EQ(sizeof(layout::slot<2, 4>), 64u);
  EXPECT_EQ(sizeof(layout::slot<7, 0>), 64u);
}

} // namespace
} // namespace cubby_test
