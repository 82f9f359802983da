// SPDX-License-Identifier: Apache-2.0
// The calls of standard containers that tables refuse (refused_calls.hpp): constraints find them absent, the classes that refuse them
// are empty, and what may be written beside them still means what it did.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
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
concept has_accessors = requires { requires std::is_default_constructible_v<typename T::accessor>; } ||
                        requires { requires std::is_default_constructible_v<typename T::const_accessor>; };
template <class T>
concept has_calls_of_others =
    requires(T& t) { t.insert_or_visit({1, 2}, 3); } || requires(T& t) { t.insert_or_cvisit({1, 2}, 3); } ||
    requires(T& t, int* keys) { t.visit(keys, keys, 3); } || requires(T& t) { t.emplace_or_cvisit(1, 2, 3); } ||
    requires(T& t) { t.cvisit_while(3); } || requires(T& t) { t.assign_if_equal(1, 2, 3); } ||
    requires(T& t) { t.erase_if_equal(1, 2); } || requires(T& t) { t.erase_key_if(1, 2); } ||
    requires(T& t, int& out) { t.find(1, out); } || requires(T& t) { t.unsafe_erase(1); } ||
    requires(T& t) { t.max_load_factor(); } || requires(T& t) { t.max_load_factor(1.0F); } ||
    requires(T& t) { t.find_if(1); } || requires(T& t) { t.try_emplace_l(1, 2, 3); } ||
    requires(T& t) { erase_if(t, 3); };
template <class T>
constexpr bool refuses =
    !has_iterators<T> && !has_iterators<const T> && !has_count<T> && !has_references<T> && !has_emplace<T> &&
    !takes_pairs<T> && !takes_numbers<T> && !has_accessors<T> && !has_calls_of_others<T>;
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

/// A function of the user is a better match than the one that refuses `erase_if(m, p)`, however it takes its arguments.
struct of_a_user {};
template <class M> int erase_if(M&, of_a_user) { return 1; }
template <class M> int erase_if(const M&, int (*)(of_a_user)) { return 2; }
int erase_if(const cubby::set<int>&, const std::optional<int>&) { return 3; }
struct view_of_a_user {
  view_of_a_user(const cubby::in_place_map<int, int>&) {} // NOLINT(google-explicit-constructor): it has to convert
};
int erase_if(view_of_a_user, const std::optional<int>&) { return 4; }
TEST(refused_calls, leave_the_erase_if_of_a_user) {
  cubby::map<int, int> map;
  const cubby::set<int> set;
  EXPECT_EQ(erase_if(map, of_a_user{}), 1);
  EXPECT_EQ(erase_if(map, [](of_a_user) { return 0; }), 2);
  EXPECT_EQ(erase_if(set, 5), 3);
  EXPECT_EQ(erase_if(cubby::in_place_map<int, int>(), 5), 4);
}

/// A null pointer is a key where keys are pointers, and a value.
struct hash_of_text {
  using is_avalanching = void;
  std::uint64_t operator()(const char* text) const {
    return cubby::hash_bytes(text, std::char_traits<char>::length(text));
  }
};
struct same_text {
  bool operator()(const char* a, const char* b) const { return std::string_view(a) == b; }
};
TEST(refused_calls, do_not_refuse_other_null_pointers) {
  cubby::map<const int*, int> by_address;
  EXPECT_TRUE(by_address.insert(nullptr, 1) && by_address.contains(nullptr) && by_address.find(nullptr) == 1);
  EXPECT_TRUE(by_address.erase(nullptr));
  cubby::set<std::shared_ptr<int>> owners;
  EXPECT_TRUE(owners.insert(nullptr) && owners.contains(nullptr) && owners.erase(nullptr));
  cubby::in_place_map<std::string, std::unique_ptr<int>> values;
  EXPECT_TRUE(values.insert("a", nullptr) && values.insert_or_assign("", nullptr) && values.contains(""));
}

TEST(refused_calls, do_not_refuse_pointers_to_text_with_a_hash_and_an_equality) {
  cubby::map<const char*, int, cubby::dlht, hash_of_text, std::allocator<std::byte>, same_text> words;
  const std::string other = "alpha";
  EXPECT_TRUE(words.insert("alpha", 1) && !words.insert(other.c_str(), 2));
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
