// SPDX-License-Identifier: Apache-2.0
// Any key is legal, and so is any value: words that an engine uses for itself are escaped. Every edge of every kind of
// key is inserted together, found, moved through growth and shrink, scanned and erased.
#include <cstddef>
#include <string>
#include <vector>

#include "engines.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

template <class Engine, class K, class V>
void whole_life(const std::vector<K>& keys, const std::vector<V>& values) {
  {
    cubby::map<K, V, Engine> m(tiny_options());
    const auto value_of = [&](std::size_t i) { return values[i % values.size()]; };
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_FALSE(m.contains(keys[i])) << i;
      ASSERT_TRUE(m.insert(keys[i], value_of(i))) << i;
      ASSERT_FALSE(m.insert(keys[i], value_of(i))) << i;
    }
    m.reserve(2000);
    m.shrink_to_fit();
    ASSERT_EQ(m.size(), keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(m.find(keys[i]), value_of(i)) << i;
      ASSERT_TRUE(m.assign(keys[i], value_of(i + 1))) << i;
      ASSERT_EQ(m.find(keys[i]), value_of(i + 1)) << i;
    }
    std::size_t scanned = 0;
    m.visit_all([&](const K& k, const V& v) {
      std::size_t i = 0;
      while (i < keys.size() && !(keys[i] == k)) ++i;
      ASSERT_LT(i, keys.size());
      ASSERT_EQ(v, value_of(i + 1));
      ++scanned;
    });
    EXPECT_EQ(scanned, keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(m.extract(keys[i]), value_of(i + 1)) << i;
      ASSERT_FALSE(m.contains(keys[i])) << i;
    }
    EXPECT_TRUE(m.empty());
  }
}

std::vector<std::uint64_t> edge_words() {
  std::vector<std::uint64_t> all;
  for (std::uint64_t n = 0; n < 70; ++n) {
    all.push_back(n);
    all.push_back(~n);
  }
  for (unsigned bit = 7; bit < 64; ++bit) {
    all.push_back(std::uint64_t{1} << bit);
    all.push_back(~(std::uint64_t{1} << bit));
  }
  all.push_back(0x5555555555555555u);
  all.push_back(0xddddddddddddddddu);
  return all;
}

template <class Engine>
class any_key : public ::testing::Test {};
TYPED_TEST_SUITE(any_key, every_engine);

TYPED_TEST(any_key, words_of_eight_bytes) {
  whole_life<TypeParam, std::uint64_t, std::uint64_t>(edge_words(), edge_words());
}

TYPED_TEST(any_key, all_keys_of_one_byte) {
  std::vector<std::uint8_t> all(256);
  for (unsigned n = 0; n < 256; ++n) all[n] = static_cast<std::uint8_t>(n);
  whole_life<TypeParam, std::uint8_t, std::uint8_t>(all, {0, 1, 2, 3, 255});
}

TYPED_TEST(any_key, pointers_with_small_values) {
  static int things[3];
  whole_life<TypeParam, const int*, std::int16_t>({nullptr, &things[0], &things[1]}, {0, -1});
}

TYPED_TEST(any_key, words_with_values_of_many_words) {
  whole_life<TypeParam, std::uint64_t, wide_value>(edge_words(), {wide_value{0, 0, 0}, wide_value{1, 2, 3}});
}

TYPED_TEST(any_key, strings_of_every_length_up_to_300) {
  std::vector<std::string> keys, values;
  for (std::size_t n = 0; n < 300; ++n) {
    keys.push_back(std::string(n, 'k'));
    values.push_back(std::string(300 - n, '\0'));
  }
  keys.push_back(std::string("k\0k", 3));
  keys.push_back(std::string(1, '\0'));
  keys.push_back(std::string(8, '\0'));
  keys.push_back(std::string(8, '\xff'));
  keys.push_back(std::string(100000, 'L'));
  whole_life<TypeParam, std::string, std::string>(keys, values);
}

TYPED_TEST(any_key, words_as_members_of_a_set) {
  cubby::set<std::uint64_t, TypeParam> s(tiny_options());
  const auto all = edge_words();
  for (const auto k : all) ASSERT_TRUE(s.insert(k)) << k;
  for (const auto k : all) ASSERT_FALSE(s.insert(k)) << k;
  EXPECT_EQ(s.size(), all.size());
  for (const auto k : all) ASSERT_TRUE(s.contains(k)) << k;
  for (const auto k : all) ASSERT_TRUE(s.erase(k)) << k;
  for (const auto k : all) ASSERT_FALSE(s.contains(k)) << k;
}

} // namespace
} // namespace cubby_test
