// SPDX-License-Identifier: Apache-2.0
// Whole contents: tables made from ranges and lists, merged, compared, and copied into the containers of the standard library.
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <memory_resource>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <cubby/in_place_map.hpp>

#include "engines.hpp"
#include "support/counting.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

template <class Mode> class contents : public ::testing::Test {};
TYPED_TEST_SUITE(contents, main_modes);

template <class Mode> auto pairs_of(std::uint64_t first, std::uint64_t last) {
  std::vector<std::pair<typename Mode::key_type, typename Mode::mapped_type>> all;
  for (std::uint64_t n = first; n < last; ++n) all.emplace_back(Mode::key(n), Mode::value(n));
  return all;
}

TYPED_TEST(contents, come_from_a_range_with_options) {
  const auto all = pairs_of<TypeParam>(0, 500);
  const typename TypeParam::map m(all.begin(), all.end());
  typename TypeParam::map tiny(all.begin(), all.end(), cubby::options{.capacity = 1});
  EXPECT_EQ(m.size(), 500u);
  EXPECT_EQ(tiny.size(), 500u);
  for (std::uint64_t n = 0; n < 500; ++n) ASSERT_EQ(TypeParam::number(*m.find(TypeParam::key(n))), n);
  EXPECT_TRUE(m == tiny);
}

TYPED_TEST(contents, are_equal_when_keys_and_values_are) {
  const auto all = pairs_of<TypeParam>(0, 300);
  typename TypeParam::map a(all.begin(), all.end());
  typename TypeParam::map b(all.rbegin(), all.rend());
  EXPECT_TRUE(a == b);
  EXPECT_TRUE(a == a);
  b.insert_or_assign(TypeParam::key(7), TypeParam::value(8));
  EXPECT_TRUE(a != b) << "a value differs";
  b.erase(TypeParam::key(7));
  EXPECT_FALSE(a == b) << "an entry is missing";
  EXPECT_FALSE(b == a);
  b.insert(TypeParam::key(1007), TypeParam::value(7));
  EXPECT_FALSE(a == b) << "a key differs";
}

TYPED_TEST(contents, are_merged_where_the_key_is_absent) {
  const auto some = pairs_of<TypeParam>(0, 200);
  const auto more = pairs_of<TypeParam>(100, 400);
  typename TypeParam::map a(some.begin(), some.end(), cubby::options{.capacity = 1});
  typename TypeParam::map b(more.begin(), more.end(), cubby::options{.capacity = 1});
  b.insert_or_assign(TypeParam::key(150), TypeParam::value(1));
  EXPECT_EQ(a.merge(b), 200u);
  EXPECT_EQ(a.size(), 400u);
  EXPECT_EQ(b.size(), 100u);
  for (std::uint64_t n = 0; n < 400; ++n) {
    ASSERT_EQ(TypeParam::number(*a.find(TypeParam::key(n))), n) << "the entry here stays";
    ASSERT_EQ(b.contains(TypeParam::key(n)), n >= 100 && n < 200) << n;
  }
  EXPECT_EQ(a.merge(a), 0u);
  auto h = a.handle();
  EXPECT_EQ(a.merge(h), 0u) << "a handle of this very table";
  EXPECT_EQ(a.size(), 400u);
  typename TypeParam::map empty;
  EXPECT_EQ(empty.merge(h), 400u);
  EXPECT_EQ(a.merge(std::move(empty)), 400u) << "a table that is moved in";
  EXPECT_EQ(empty.merge(a), 400u);
  EXPECT_TRUE(a.empty());
}

template <class Engine> class contents_of : public ::testing::Test {};
TYPED_TEST_SUITE(contents_of, every_engine);

TYPED_TEST(contents_of, come_from_lists) {
  const cubby::map<std::string, int, TypeParam> m{{"one", 1}, {"two", 2}, {"one", 3}};
  EXPECT_EQ(m.size(), 2u);
  EXPECT_EQ(m.find("one"), 1) << "the first stays";
  const cubby::set<int, TypeParam> s{3, 1, 3};
  const cubby::set<int, TypeParam> same({1, 3}, {.capacity = 1000});
  EXPECT_TRUE(s == same);
  const cubby::map<int, int, TypeParam> wide({.capacity = 1000});
  EXPECT_EQ(wide.size(), 0u) << "options are no list";
  const cubby::map<int, int, TypeParam> braces{};
  EXPECT_TRUE(wide == braces);
}

TYPED_TEST(contents_of, come_from_other_containers_and_go_there) {
  std::unordered_map<std::string, std::string> from;
  for (int n = 0; n < 400; ++n) from.emplace("key " + std::to_string(n), std::string(static_cast<std::size_t>(n), 'v'));
  const cubby::map<std::string, std::string, TypeParam> m(from.begin(), from.end());
  EXPECT_EQ((m.template to<std::unordered_map<std::string, std::string>>()), from);
  EXPECT_EQ((m.template to<std::map<std::string, std::string>>().size()), 400u);
  const std::set<int> sorted{5, 4, 3};
  const cubby::set<int, TypeParam> s(sorted.begin(), sorted.end());
  EXPECT_EQ((s.template to<std::set<int>>()), sorted);
}

TYPED_TEST(contents_of, come_from_a_stream_that_is_read_once) {
  std::istringstream text("7 8 9 7");
  const cubby::set<int, TypeParam> s(std::istream_iterator<int>(text), std::istream_iterator<int>{});
  EXPECT_EQ(s.size(), 3u);
  EXPECT_TRUE(s.contains(9));
}

/// Such a key is found by no lookup. A scan knows it by its place.
TYPED_TEST(contents_of, with_keys_that_are_equal_to_none_are_erased) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  cubby::map<double, int, TypeParam> m(tiny_options());
  ASSERT_TRUE(m.insert(none, 1) && m.insert(2.0, 1));
  EXPECT_FALSE(m.contains(none));
  m.clear();
  EXPECT_EQ(m.size(), 0u);
  ASSERT_TRUE(m.insert(none, 1) && m.insert(none, 2));
  EXPECT_EQ(m.erase_if([](double, int) { return true; }), 2u);
  EXPECT_EQ(m.size(), 0u);
}

TYPED_TEST(contents_of, are_returned_from_a_function) {
  const auto make = [] { return cubby::map<int, int, TypeParam>{{1, 2}, {3, 4}}; };
  const auto m = make();
  EXPECT_EQ(m.find(3), 4);
}

TYPED_TEST(contents_of, merge_across_engines_up_to_a_bound) {
  cubby::map<int, int, cubby::reference> source;
  for (int n = 0; n < 20; ++n) source.insert(n, n);
  cubby::options bound;
  bound.capacity = 8;
  bound.growth = cubby::growth_policy::fixed;
  cubby::map<int, int, TypeParam> m(bound);
  EXPECT_THROW(m.merge(source), cubby::table_full);
  EXPECT_EQ(m.size() + source.size(), 20u) << "what was moved stays moved, and nothing is lost";
  EXPECT_THROW((cubby::set<int, TypeParam>({1, 2, 3, 4, 5, 6, 7, 8, 9}, bound)), cubby::table_full);
}

/// An allocator that is the only argument, or comes after the options, without a hash between them.
TYPED_TEST(contents_of, come_from_an_allocator_that_is_given_alone) {
  using allocator = counting_allocator<std::byte>;
  allocation_account account;
  const auto use = [&account](auto&& m) {
    EXPECT_TRUE(m.insert(1, "a text that is too long to be stored in its own object"));
    EXPECT_GT(account.blocks.load(), 0);
    EXPECT_TRUE(m.get_allocator() == allocator(account));
  };
  using map = cubby::map<int, std::string, TypeParam, cubby::hash<int>, allocator>;
  using in_place = cubby::in_place_map<int, std::string, cubby::dlht, cubby::hash<int>, allocator>;
  use(map(allocator(account)));
  use(map({.capacity = 5}, allocator(account)));
  use(in_place(allocator(account)));
  use(in_place({.capacity = 5}, allocator(account)));
  using set = cubby::set<std::string, TypeParam, cubby::hash<std::string>, allocator>;
  set keys{allocator(account)};
  EXPECT_TRUE(keys.insert("a text that is too long to be stored in its own object"));
  EXPECT_TRUE(keys.get_allocator() == allocator(account));
  EXPECT_EQ(set({"a", "b"}, allocator(account)).size(), 2u);
  EXPECT_EQ(map({{1, "a"}, {2, "b"}}, allocator(account)).size(), 2u);
  EXPECT_EQ((cubby::set<int, TypeParam, cubby::hash<int>, allocator>({1000}, allocator(account)).size()), 1u)
      << "a key";
}

/// The options of an engine stay whole in front of an allocator, and an allocator is made of no number and no null pointer.
TEST(contents_of_options, keep_what_an_engine_adds) {
  using map = cubby::map<int, int, cubby::seph>;
  const cubby::seph::options small{{}, {.segment_bits = 3}};
  const std::allocator<std::byte> a;
  EXPECT_EQ(map(small, a).capacity(), map(small, {}, a).capacity());
  EXPECT_NE(map(small, a).capacity(), map(a).capacity());
  using pmr = cubby::map<int, int, cubby::dlht, cubby::hash<int>, std::pmr::polymorphic_allocator<std::byte>>;
  static_assert(std::is_constructible_v<pmr, std::pmr::memory_resource*>);
  static_assert(!std::is_constructible_v<pmr, std::nullptr_t> && !std::is_constructible_v<pmr, int>);
}

template <class Mode> class merges_by_threads : public ::testing::Test {};
TYPED_TEST_SUITE(merges_by_threads, shared_modes);

TYPED_TEST(merges_by_threads, hide_no_entry_from_others) {
  typename TypeParam::map to(tiny_options());
  typename TypeParam::map from(tiny_options());
  constexpr std::uint64_t keys = 400;
  for (std::uint64_t n = 0; n < keys; ++n) from.insert(TypeParam::key(n), TypeParam::value(n));
  run_threads(3, [&](std::size_t t) {
    if (t == 0) {
      EXPECT_EQ(to.merge(from), keys);
    } else {
      for (std::uint64_t n = 0; n < 2 * keys; ++n) {
        const auto k = TypeParam::key(n % keys);
        const bool was_there = from.contains(k) || to.contains(k);
        ASSERT_TRUE(was_there) << n;
      }
    }
  });
  EXPECT_EQ(to.size(), keys);
  EXPECT_TRUE(from.empty());
}

TEST(tables_of_ranges, take_options_in_braces_and_an_allocator) {
  const std::allocator<std::byte> a;
  const std::map<std::string, int> from{{"a", 1}, {"b", 2}};
  const cubby::map<std::string, int> listed({{"a", 1}, {"b", 2}}, {.capacity = 30}, a);
  const cubby::map<std::string, int> ranged(from.begin(), from.end(), {.capacity = 30}, a);
  const cubby::map<std::string, int> plain(from.begin(), from.end(), a);
  EXPECT_TRUE(listed == ranged && ranged == plain);
  const cubby::set<int> keys({1, 2}, {.capacity = 30}, a);
  EXPECT_EQ(keys.size(), 2u);
}

} // namespace
} // namespace cubby_test
