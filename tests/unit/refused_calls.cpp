// SPDX-License-Identifier: Apache-2.0
// The calls of standard containers that tables refuse (refused_calls.hpp): constraints find them absent, the classes that refuse them
// are empty, and what may be written beside them still means what it did.
#include <cstddef>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/delegated_map.hpp>
#include <cubby/durable_map.hpp>
#include <cubby/in_place_map.hpp>
#include <cubby/map.hpp>
#include <cubby/set.hpp>

namespace cubby_test::refused_call_tests {
namespace {

template <class T>
concept has_iterators = std::ranges::range<T> || requires(T& t) { t.begin(); } || requires(T& t) { t.end(); } ||
                        requires(T& t) { t.cbegin(); } || requires(T& t) { t.cend(); } ||
                        requires(T& t) { std::begin(t); } || requires(T& t) { std::ranges::begin(t); };
template <class T> concept has_count = requires(T& t) { t.count(3); };
template <class T> concept has_references = requires(T& t) { t[3]; } || requires(T& t) { t.at(3); };
template <class T> concept has_emplace = requires(T& t) { t.emplace(3); } || requires(T& t) { t.emplace(3, 4); };
template <class T> concept takes_pairs = requires(T& t) { t.insert(std::pair<const int, int>(3, 4)); };
template <class T>
concept takes_numbers = std::is_constructible_v<T, int> || std::is_constructible_v<T, std::size_t> ||
                        std::is_constructible_v<T, int, cubby::hash<int>> || std::is_convertible_v<int, T>;
template <class T>
constexpr bool refuses = !has_iterators<T> && !has_iterators<const T> && !has_count<T> && !has_references<T> &&
                         !has_emplace<T> && !takes_pairs<T> && !takes_numbers<T>;
/// Also its handle.
template <class T>
constexpr bool both_refuse = refuses<T> && refuses<typename T::handle_type>;

static_assert(!std::ranges::range<cubby::map<int, int>>);
static_assert(both_refuse<cubby::map<int, int>>);
static_assert(both_refuse<cubby::map<int, std::string>>);
static_assert(both_refuse<cubby::set<int>>);
static_assert(both_refuse<cubby::in_place_map<int, int>>);
static_assert(both_refuse<cubby::delegated_map<int, int>>);
static_assert(both_refuse<cubby::durable_map<int, int>>);
static_assert(both_refuse<cubby::durable_set<int>>);

template <class T>
constexpr bool has_find = requires(T& t) { t.find(3); };
static_assert(has_find<cubby::map<int, int>> && !has_find<cubby::set<int>> && !has_find<cubby::durable_set<int>>);

template <class T>
constexpr bool opens_alone = !std::is_default_constructible_v<T> && !std::is_constructible_v<T, const char*> &&
                             !std::is_constructible_v<T, std::string, cubby::durable_options>;
static_assert(opens_alone<cubby::durable_map<int, int>> && opens_alone<cubby::durable_set<int>>);

template <class T>
constexpr bool takes_no_space =
    std::is_empty_v<cubby::detail::refused_by_maps<T>> && std::is_empty_v<cubby::detail::refused_by_sets<T>> &&
    std::is_empty_v<cubby::detail::refused_in_place<T>> && std::is_empty_v<cubby::detail::refused_by_delegated<T>>;
static_assert(takes_no_space<int>);
using in_place = cubby::in_place_map<int, int>;
using held = cubby::map<int, cubby::detail::held_value<int>>;
static_assert(sizeof(in_place) == sizeof(held), "a table and its first member begin at the same address");
static_assert(sizeof(in_place::handle_type) == sizeof(held::handle_type));

/// What a map may be made of, beside a refused number.
template <class Map>
void is_made_of_all_others() {
  const std::vector<std::pair<int, int>> pairs{{1, 2}, {3, 4}};
  EXPECT_TRUE(Map().empty());
  EXPECT_TRUE(Map({.capacity = 1000}).empty());
  EXPECT_TRUE(Map({1000}).empty()) << "options in braces";
  EXPECT_TRUE(Map(cubby::dlht::options{{.capacity = 1000}, {.move_bins = 16}}).empty());
  EXPECT_TRUE(Map({.capacity = 1000}, cubby::hash<int>(), std::allocator<std::byte>()).empty());
  EXPECT_EQ(Map({{1, 2}}).size(), 1u);
  EXPECT_EQ(Map({{1, 2}, {3, 4}}, {.capacity = 1000}).size(), 2u);
  EXPECT_EQ(Map(pairs.begin(), pairs.end()).size(), 2u);
  EXPECT_EQ(Map(pairs.data(), pairs.data() + 1, {.capacity = 1000}).size(), 1u);
  EXPECT_TRUE(Map({}, cubby::hash<int>()).empty()) << "a hash behind empty options";
  EXPECT_EQ(Map(pairs.begin(), pairs.end(), {}, cubby::hash<int>()).size(), 2u);
}

TEST(refused_calls, maps_are_made_of_all_but_numbers) {
  is_made_of_all_others<cubby::map<int, int>>();
  is_made_of_all_others<cubby::in_place_map<int, int>>();
  const cubby::delegated_map<int, int> delegated({.capacity = 1000});
  EXPECT_TRUE(delegated.empty());
}

TEST(refused_calls, sets_are_made_of_all_but_numbers) {
  const std::vector<int> keys{1, 2, 3};
  EXPECT_TRUE(cubby::set<int>({.capacity = 1000}).empty());
  const cubby::set<int> list{1000};
  EXPECT_TRUE(list.contains(1000) && list.size() == 1) << "a number in braces is a key";
  EXPECT_EQ(cubby::set<int>(keys.begin(), keys.end(), {.capacity = 1000}).size(), 3u);
}

TEST(refused_calls, inserts_of_keys_and_values_are_not_refused) {
  cubby::map<std::string, std::pair<int, int>> of_pairs;
  EXPECT_TRUE(of_pairs.insert("a", {1, 2}));
  EXPECT_TRUE(of_pairs.try_emplace("b", 1, 2));
  EXPECT_EQ(of_pairs.size(), 2u);
}

/// Tables lie in other objects. Only one that moves may be an element of a pair that moves.
template <class Table, bool Moves>
void lies_in_others() {
  static_assert(!std::is_copy_constructible_v<Table> && !std::is_constructible_v<Table, Table&>);
  static_assert(!std::is_constructible_v<Table, const Table&> && !std::is_constructible_v<Table, const Table>);
  static_assert(std::is_move_constructible_v<Table> == Moves && std::is_move_assignable_v<Table> == Moves);
  static_assert(std::is_move_constructible_v<std::pair<int, Table>> == Moves);
  static_assert(!std::is_copy_constructible_v<std::pair<int, Table>> && !std::is_copy_assignable_v<Table>);
  const auto make = [] { return Table({.capacity = 10}); };
  const Table made = make();
  EXPECT_TRUE(made.empty());
  std::map<int, Table> by_number;
  EXPECT_TRUE(by_number[1].empty());
  EXPECT_TRUE(by_number.try_emplace(2, cubby::options{.capacity = 10}).second);
  std::list<Table> list;
  EXPECT_TRUE(list.emplace_back(cubby::options{.capacity = 10}).empty());
  EXPECT_TRUE(std::vector<Table>(2).back().empty());
  std::optional<Table> perhaps;
  EXPECT_TRUE(perhaps.emplace().empty());
  EXPECT_TRUE(std::make_unique<Table>(cubby::options{.capacity = 10})->empty());
}

TEST(refused_calls, tables_lie_in_other_objects) {
  lies_in_others<cubby::map<int, int>, true>();
  lies_in_others<cubby::set<int>, true>();
  lies_in_others<cubby::in_place_map<int, int>, true>();
  lies_in_others<cubby::delegated_map<int, int>, false>();
}

/// The default constructors are not explicit, so that members of aggregates and elements of arrays may be made of `{}`.
struct tables_as_members {
  cubby::map<int, int> counts;
  cubby::in_place_map<int, int> lists;
  cubby::set<int> seen;
};
cubby::map<int, int> empty_map() { return {}; }
TEST(refused_calls, do_not_refuse_empty_braces) {
  tables_as_members all{};
  EXPECT_TRUE(all.counts.insert(1, 1) && all.lists.insert(1, 1) && all.seen.insert(1));
  EXPECT_EQ(empty_map().size(), 0u);
}

} // namespace
} // namespace cubby_test::refused_call_tests
