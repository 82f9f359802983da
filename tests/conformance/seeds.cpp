// SPDX-License-Identifier: Apache-2.0
// The seeds that tables draw: no two tables have one, so what a table shows in its order can be put into another one in that order. With
// one seed a small table would get all keys of a few of its places at first. Built without CUBBY_TABLE_SEED.
#include <string>
#include <utility>
#include <vector>

#include <cubby/in_place_map.hpp>

#include "engines.hpp"

#ifdef CUBBY_TABLE_SEED
#error "the tests of seeds need the seeds that users have"
#endif

namespace cubby_test {
namespace {

template <class Engine> class seeds : public ::testing::Test {
protected:
  using words = cubby::map<int, int, Engine>;
  using texts = cubby::map<std::string, int, Engine>;
};
TYPED_TEST_SUITE(seeds, every_engine);

TYPED_TEST(seeds, of_tables_differ_unless_they_are_given) {
  using words = typename TestFixture::words;
  using texts = typename TestFixture::texts;
  EXPECT_NE(words().hash_for(1), words().hash_for(1));
  EXPECT_NE(texts().hash_for("a"), texts().hash_for("a"));
  const cubby::options given{.seed = 7};
  EXPECT_EQ(words(given).hash_for(1), words(given).hash_for(1));
  EXPECT_EQ(texts(given).hash_for("a"), texts(given).hash_for("a"));
  EXPECT_NE(words(given).hash_for(1), words({.seed = 8}).hash_for(1));
}

/// The keys of a table, in the order of its scan.
template <class Map> auto keys_of(const Map& m) {
  std::vector<typename Map::key_type> all;
  m.visit_all([&all](const auto& k, const auto&) { all.push_back(k); });
  return all;
}

TYPED_TEST(seeds, let_a_table_be_filled_in_the_order_of_a_scan) {
  constexpr int count = 20'000;
  typename TestFixture::words numbers;
  typename TestFixture::texts names;
  for (int n = 0; n < count; ++n) ASSERT_TRUE(numbers.insert(n, n) && names.insert("name " + std::to_string(n), n));
  typename TestFixture::words more_numbers;
  typename TestFixture::texts more_names;
  for (const int k : keys_of(numbers)) ASSERT_TRUE(more_numbers.insert(k, k));
  for (const std::string& k : keys_of(names)) ASSERT_TRUE(more_names.insert(k, 1));
  cubby::set<std::string, TypeParam> set;
  for (const std::string& k : keys_of(names)) ASSERT_TRUE(set.insert(k));
  EXPECT_EQ(set.size(), std::size_t{count});
}

/// One inner key in many namespaces: the namespace alone tells the places of the keys.
TYPED_TEST(seeds, tell_apart_the_orders_of_namespaces) {
  using spaced = cubby::map<cubby::in_namespace<int>, int, TypeParam>;
  spaced from;
  for (std::uint16_t id = 0; id < 4096; ++id) ASSERT_TRUE(from.insert({id, 1}, id));
  spaced to;
  for (const auto& k : keys_of(from)) ASSERT_TRUE(to.insert(k, 1));
  EXPECT_EQ(to.size(), 4096u);
}

TYPED_TEST(seeds, let_what_a_move_leaves_be_filled_again) {
  typename TestFixture::words live;
  for (int n = 0; n < 20'000; ++n) ASSERT_TRUE(live.insert(n, n));
  const std::uint64_t hash = live.hash_for(1);
  const auto full = std::move(live);
  EXPECT_EQ(full.hash_for(1), hash);
  EXPECT_NE(live.hash_for(1), hash);
  for (const int k : keys_of(full)) ASSERT_TRUE(live.insert(k, k));
  typename TestFixture::words given(cubby::options{.seed = 7});
  const auto moved = std::move(given);
  EXPECT_EQ(given.hash_for(1), moved.hash_for(1)) << "it is given";
}

TEST(seeds_of_values_in_place, let_a_table_be_filled_in_the_order_of_a_scan) {
  cubby::in_place_map<int, std::string> from;
  for (int n = 0; n < 20'000; ++n) ASSERT_TRUE(from.insert(n, "a"));
  cubby::in_place_map<int, std::string> to;
  from.visit_all([&to](const int& k, const std::string& v) { ASSERT_TRUE(to.insert(k, v)); });
  EXPECT_EQ(to.size(), 20'000u);
}

} // namespace
} // namespace cubby_test
