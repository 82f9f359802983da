// SPDX-License-Identifier: Apache-2.0
// The same key in two namespaces is two keys, for 4096 namespaces, for keys in the slot and in records; a namespace
// that does not exist is refused.
#include <string>

#include "engines.hpp"

namespace cubby_test {
namespace {

template <class Engine>
class namespaces : public ::testing::Test {};
TYPED_TEST_SUITE(namespaces, every_engine);

template <class K, class V, class Engine, class MakeKey, class MakeValue>
void live_apart(MakeKey key, MakeValue value) {
  cubby::map<cubby::in_namespace<K>, V, Engine> m(tiny_options());
  for (unsigned id = 0; id < 4096; id += 41) {
    const auto name = static_cast<std::uint16_t>(id);
    ASSERT_TRUE(m.insert({name, key(7)}, value(id))) << id;
    ASSERT_FALSE(m.insert({name, key(7)}, value(0))) << id;
    ASSERT_TRUE(m.insert({name, key(8)}, value(id + 1))) << id;
  }
  EXPECT_EQ(m.size(), 200u);
  for (unsigned id = 0; id < 4096; ++id) {
    const auto name = static_cast<std::uint16_t>(id);
    ASSERT_EQ(m.contains({name, key(7)}), id % 41 == 0) << id;
    ASSERT_FALSE(m.contains({name, key(9)})) << id;
  }
  for (unsigned id = 0; id < 4096; id += 41) {
    const auto name = static_cast<std::uint16_t>(id);
    if (id % 2 == 0) {
      ASSERT_TRUE(m.erase({name, key(7)}));
    }
    ASSERT_EQ(m.find({name, key(7)}).has_value(), id % 2 != 0) << id;
    ASSERT_EQ(*m.find({name, key(8)}), value(id + 1)) << id;
  }
  EXPECT_EQ(m.size(), 150u);
}

/// The hash of a key must not cancel what its namespace adds, nor be the same when both numbers change places.
TYPED_TEST(namespaces, and_keys_of_equal_numbers_find_places) {
  cubby::map<cubby::in_namespace<std::uint32_t>, int, TypeParam> m(tiny_options());
  for (std::uint16_t n = 0; n < 4096; ++n) ASSERT_TRUE(m.insert({n, n}, n)) << n;
  EXPECT_NE(m.hash_for({1, 2}), m.hash_for({2, 1}));
  EXPECT_NE(m.hash_for({1, 1}), m.hash_for({2, 2}));
}

TYPED_TEST(namespaces, words_live_apart) {
  const auto same = [](std::uint64_t n) { return n; };
  live_apart<std::uint64_t, std::uint64_t, TypeParam>(same, same);
  const auto narrow = [](std::uint64_t n) { return static_cast<std::uint32_t>(n); };
  live_apart<std::uint32_t, std::uint32_t, TypeParam>(narrow, narrow);
}

TYPED_TEST(namespaces, strings_live_apart) {
  const auto text = [](std::uint64_t n) { return std::string("some long common beginning ") + std::to_string(n); };
  live_apart<std::string, std::string, TypeParam>(text, text);
}

TYPED_TEST(namespaces, a_namespace_beyond_the_last_is_refused) {
  cubby::map<cubby::in_namespace<std::uint64_t>, std::uint64_t, TypeParam> m(tiny_options());
  EXPECT_TRUE(m.insert({4095, 1}, 1));
  EXPECT_THROW(m.insert({4096, 1}, 1), cubby::bad_namespace);
  EXPECT_THROW(m.insert_or_assign({65535, 1}, 1), cubby::bad_namespace);
  EXPECT_FALSE(m.contains({4096, 1}));
  EXPECT_FALSE(m.find({65535, 1}).has_value());
  EXPECT_FALSE(m.erase({4096 + 4095, 1}));
  EXPECT_EQ(m.size(), 1u);
}

} // namespace
} // namespace cubby_test
