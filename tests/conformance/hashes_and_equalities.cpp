// SPDX-License-Identifier: Apache-2.0
// Keys with the hash of the standard library, and keys with an equality of the user's, in every engine. They are looked up by other
// types than the key's, have namespaces, come in batches, and are inserted by several threads.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "engines.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

/// An identifier whose hash for the standard library is itself, as that of integers often is.
struct ticket {
  std::uint64_t number = 0;
  double price = 0; // padding-free, but no plain key: 0.0 and -0.0 are equal
  friend bool operator==(const ticket&, const ticket&) = default;
};
/// Plain, of 16 bytes, with an equality that does not compare all its bits, and a std::hash that agrees.
struct revised {
  std::uint64_t number = 0;
  std::uint64_t revision = 0; // of no importance
  friend bool operator==(const revised& a, const revised& b) { return a.number == b.number; }
};

} // namespace
} // namespace cubby_test

template <> struct std::hash<cubby_test::ticket> {
  std::size_t operator()(const cubby_test::ticket& t) const noexcept { return t.number; }
};
template <> struct std::hash<cubby_test::revised> {
  std::size_t operator()(const cubby_test::revised& r) const noexcept { return r.number; }
};

namespace cubby_test {
namespace {

template <class Engine> class std_hashes : public ::testing::Test {};
TYPED_TEST_SUITE(std_hashes, every_engine);

TYPED_TEST(std_hashes, serve_keys_that_have_no_other) {
  cubby::map<double, int, TypeParam> numbers(tiny_options());
  for (int n = 1; n < 500; ++n) ASSERT_TRUE(numbers.insert(n * 0.25, n)) << n;
  for (int n = 1; n < 500; ++n) ASSERT_EQ(numbers.find(n * 0.25), n);
  EXPECT_TRUE(numbers.insert(0.0, 0));
  EXPECT_FALSE(numbers.insert(-0.0, 1)) << "they are equal";

  cubby::map<std::optional<int>, int, TypeParam> perhaps(tiny_options());
  EXPECT_TRUE(perhaps.insert(std::nullopt, 1));
  EXPECT_TRUE(perhaps.insert(std::optional<int>(0), 2));
  EXPECT_EQ(perhaps.find(std::nullopt), 1);
  cubby::set<std::error_code, TypeParam> errors(tiny_options());
  EXPECT_TRUE(errors.insert(std::make_error_code(std::errc::io_error)));
  EXPECT_FALSE(errors.insert(std::make_error_code(std::errc::io_error)));
  cubby::set<std::u8string, TypeParam> words(tiny_options());
  EXPECT_TRUE(words.insert(u8"word"));
  EXPECT_TRUE(words.contains(u8"word"));
}

TYPED_TEST(std_hashes, are_mixed_because_they_may_be_the_key_itself) {
  cubby::map<ticket, std::uint64_t, TypeParam> m(tiny_options());
  for (std::uint64_t n = 0; n < 5000; ++n) ASSERT_TRUE(m.insert(ticket{n << 40, 0.5}, n)) << n;
  for (std::uint64_t n = 0; n < 5000; ++n) ASSERT_EQ(m.find(ticket{n << 40, 0.5}), n);
  EXPECT_LT(m.stats().bytes, 4u << 20);
}

TYPED_TEST(std_hashes, agree_with_an_equality_that_leaves_bits_out) {
  if constexpr (TypeParam::template engine<cubby::detail::codec_in<TypeParam, revised, int, cubby::hash<revised>,
                                                                   std::allocator<std::byte>>>::policy::in_records) {
    cubby::map<revised, int, TypeParam> m(tiny_options());
    for (std::uint64_t n = 0; n < 300; ++n) ASSERT_EQ(m.insert(revised{n % 100, n}, 1), n < 100) << n;
    EXPECT_EQ(m.size(), 100u);
    EXPECT_TRUE(m.contains(revised{5, 77777}));
  } else {
    FAIL() << "its bits must not be compared";
  }
}

/// Keys of a grid, which a sum or an exclusive or of the parts would put into few places.
struct point {
  std::int32_t x = 0;
  std::int64_t y = 0;
  bool operator==(const point&) const = default;
};
struct hash_of_point {
  using is_avalanching = void;
  std::uint64_t seed = 0;
  std::uint64_t operator()(const point& p) const { return cubby::hash_parts(seed, p.x, p.y); }
};
TYPED_TEST(std_hashes, of_parts_serve_pairs_tuples_and_classes_of_them) {
  cubby::map<std::pair<int, int>, int, TypeParam> pairs;
  cubby::map<std::tuple<std::string, int, std::uint8_t>, int, TypeParam> tuples;
  cubby::map<point, int, TypeParam, hash_of_point> points;
  for (int x = 0; x < 120; ++x) {
    for (int y = 0; y < 120; ++y) {
      ASSERT_TRUE(pairs.insert({x, y}, x - y) && points.insert({x, y}, x - y));
      ASSERT_TRUE(tuples.insert({std::to_string(x), y, 1}, x - y));
    }
  }
  for (int x = 0; x < 120; ++x) {
    ASSERT_EQ(pairs.find({x, 7}), x - 7);
    ASSERT_EQ(points.find({x, 7}), x - 7);
    ASSERT_EQ(tuples.find({std::to_string(x), 7, 1}), x - 7);
  }
  EXPECT_FALSE(pairs.contains({7, 120}) || tuples.contains({"7", 7, 2}));
}
TEST(hash_of_parts, tells_the_order_the_parts_and_the_seed_apart) {
  EXPECT_NE(cubby::hash_parts(0, 1, 2), cubby::hash_parts(0, 2, 1));
  EXPECT_NE(cubby::hash_parts(0, 1, 2), cubby::hash_parts(1, 1, 2));
  EXPECT_NE(cubby::hash_parts(0, "a", "bc"), cubby::hash_parts(0, "ab", "c"));
  EXPECT_EQ(cubby::hash_parts(0, "abc"), cubby::hash_parts(0, std::string("abc"))) << "a literal is its text";
  EXPECT_EQ(cubby::hash_parts(0, "abcdefgh"), cubby::hash_parts(0, std::string_view("abcdefgh")));
  EXPECT_NE(cubby::hash_parts(0, 0), cubby::hash_parts(0, 0, 0));
  const cubby::hash<std::pair<int, int>> of_pairs{.seed = 7};
  const cubby::hash<std::tuple<int, int>> of_tuples{.seed = 7};
  EXPECT_EQ(cubby::hash_parts(7, 1, 2), of_pairs({1, 2}));
  EXPECT_EQ(cubby::hash_parts(7, 1, 2), of_tuples({1, 2}));
  EXPECT_NE(cubby::hash_parts(0, ticket{1, 2.0}, 3), cubby::hash_parts(0, ticket{2, 2.0}, 3))
      << "a part with a std::hash";
}

TEST(hash_of_parts, reads_no_char_behind_an_array) {
  const char full[4] = {'a', 'b', 'c', 'd'};
  EXPECT_EQ(cubby::hash_parts(0, full), cubby::hash_parts(0, std::string("abcd")));
  const char ended[4] = {'a', 'b', 0, 'd'};
  EXPECT_EQ(cubby::hash_parts(0, ended), cubby::hash_parts(0, std::string("ab")));
}

/// A specialization of the user's for pairs of his.
struct celsius {
  int degrees = 0;
  bool operator==(const celsius&) const = default;
};
} // namespace
} // namespace cubby_test
template <class A> struct cubby::hash<std::pair<A, cubby_test::celsius>> {
  std::uint64_t operator()(const std::pair<A, cubby_test::celsius>& key) const {
    return static_cast<std::uint64_t>(key.second.degrees);
  }
};
namespace cubby_test {
namespace {
TEST(hash_of_parts, gives_way_to_a_specialization) {
  const cubby::hash<std::pair<int, celsius>> of_pairs;
  EXPECT_EQ(of_pairs({1, {20}}), 20u);
  cubby::map<std::pair<int, celsius>, int> m;
  EXPECT_TRUE(m.insert({1, {20}}, 1) && m.insert({2, {20}}, 2) && m.contains({2, {20}}));
}

/// A plain key of which one half does not count, and another of two words.
struct serial {
  std::uint32_t number = 0;
  std::uint32_t shelf = 0; // of no importance
  friend bool operator==(const serial& a, const serial& b) { return a.number == b.number; }
};
struct edition {
  std::uint64_t number = 0;
  std::uint64_t printing = 0; // of no importance
  friend bool operator==(const edition& a, const edition& b) { return a.number == b.number; }
};
/// All keys have one hash where the seed is 0.
struct shared_at_no_seed {
  std::uint64_t number = 0;
};
/// Plain, and without an operator==.
struct grade {
  std::uint64_t number = 0;
};
} // namespace
} // namespace cubby_test
template <> inline constexpr bool cubby::always_in_record<cubby_test::serial> = true;
template <> struct cubby::hash<cubby_test::serial> {
  std::uint64_t operator()(const cubby_test::serial& s) const { return s.number; }
};
template <> struct cubby::hash<cubby_test::edition> {
  std::uint64_t operator()(const cubby_test::edition& e) const { return e.number; }
};
template <> struct cubby::hash<cubby_test::shared_at_no_seed> {
  std::uint64_t seed = 0;
  std::uint64_t operator()(const cubby_test::shared_at_no_seed& s) const { return s.number * seed; }
};
template <> struct cubby::hash<cubby_test::grade> {
  using is_avalanching = void;
  std::uint64_t operator()(const cubby_test::grade& g) const { return cubby::mix(g.number) + 1; }
};
namespace cubby_test {
namespace {
/// A key that is hashed as the identifier to which it converts.
struct identifier {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
};
struct by_identifier {
  std::uint32_t number = 0;
  std::string note;                                                           // of no importance
  operator identifier() const { return {number, number * std::uint64_t{3}}; } // NOLINT(google-explicit-constructor)
};
struct same_identifier {
  bool operator()(const by_identifier& a, const by_identifier& b) const { return a.number == b.number; }
};
TYPED_TEST(std_hashes, of_another_type_take_keys_that_convert_to_it) {
  cubby::map<by_identifier, int, TypeParam, cubby::hash<identifier>, std::allocator<std::byte>, same_identifier> m(
      tiny_options());
  for (std::uint32_t n = 0; n < 300; ++n) ASSERT_TRUE(m.insert(by_identifier{n, "first"}, 1)) << n;
  for (std::uint32_t n = 0; n < 300; ++n) ASSERT_FALSE(m.insert(by_identifier{n, "second"}, 1)) << n;
}
TEST(hash_of_parts, gives_a_seed_to_each_hash_that_has_one) {
  EXPECT_NE(cubby::hash_parts(7, shared_at_no_seed{1}), cubby::hash_parts(7, shared_at_no_seed{2}));
}
TEST(specializations_of_hash, count_for_plain_keys) {
  cubby::map<serial, int> words;
  EXPECT_TRUE(words.insert({1, 1}, 1));
  EXPECT_TRUE(words.contains({1, 2}));
  cubby::map<edition, int> books;
  EXPECT_TRUE(books.insert({1, 1}, 1));
  EXPECT_TRUE(books.contains({1, 2}));
  cubby::map<grade, int> grades;
  EXPECT_EQ(grades.hash_for({5}), cubby::mix(5) + 1);
  EXPECT_EQ(cubby::hash_parts(7, serial{1, 1}, 3), cubby::hash_parts(7, serial{1, 2}, 3)) << "as a part of a key";
  static_assert(cubby::hash_is_stable<cubby::hash<grade>> == 0, "it is the user's to say");
}

/// A hash with one seed for all its objects: a table may not change it.
struct hash_with_shared_seed {
  using is_avalanching = void;
  static inline std::uint64_t seed = 7;
  std::uint64_t operator()(int n) const { return cubby::mix(static_cast<std::uint64_t>(n), seed); }
};
TEST(hashes_with_shared_seeds, are_taken_as_they_are) {
  cubby::map<int, int, cubby::dlht, hash_with_shared_seed> first;
  for (int n = 0; n < 1000; ++n) ASSERT_TRUE(first.insert(n, n));
  const cubby::map<int, int, cubby::dlht, hash_with_shared_seed> second;
  EXPECT_EQ(hash_with_shared_seed::seed, 7u);
  for (int n = 0; n < 1000; ++n) ASSERT_EQ(first.find(n), n);
}

TEST(std_hash_of_a_key, is_mixed_and_seeded) {
  const cubby::hash<ticket> plain;
  const cubby::hash<ticket> seeded{7};
  EXPECT_EQ(plain(ticket{1, 0}), cubby::mix(1));
  EXPECT_NE(plain(ticket{1, 0}), seeded(ticket{1, 0}));
}

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// Text whose case does not matter.
struct hash_of_any_case {
  using is_transparent = void;
  std::uint64_t operator()(std::string_view text) const {
    std::uint64_t h = 0;
    for (char c : text) h = h * 31 + static_cast<unsigned char>(lower(c));
    return h;
  }
};
struct equal_in_any_case {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
  }
};
/// Numbers that are equal when they are the same hour on a dial. Neither has state.
struct hash_of_hour {
  std::uint64_t operator()(int h) const { return static_cast<std::uint64_t>(h % 12); }
};
struct same_hour {
  bool operator()(int a, int b) const { return a % 12 == b % 12; }
};

template <class V, class Engine>
using map_of_any_case =
    cubby::map<std::string, V, Engine, hash_of_any_case, std::allocator<std::byte>, equal_in_any_case>;

template <class Engine> class equalities : public ::testing::Test {};
TYPED_TEST_SUITE(equalities, every_engine);

TYPED_TEST(equalities, of_text_in_any_case) {
  map_of_any_case<int, TypeParam> m(tiny_options());
  for (int n = 0; n < 300; ++n) ASSERT_TRUE(m.insert("Key number " + std::to_string(n), n)) << n;
  for (int n = 0; n < 300; ++n) {
    const std::string other = "KEY NUMBER " + std::to_string(n);
    ASSERT_FALSE(m.insert(other, -1));
    ASSERT_EQ(m.find(std::string_view(other)), n);
    ASSERT_FALSE(m.insert_or_assign(other, n + 1));
    ASSERT_TRUE(m.update(other, [](int v) { return v + 1; }));
    ASSERT_EQ(m.find(other.c_str()), n + 2);
  }
  m.visit_all([](const std::string& k, const int&) { EXPECT_EQ(k.substr(0, 4), "Key ") << "the first one stays"; });
  m.reserve(2000);
  m.shrink_to_fit();
  EXPECT_EQ(m.size(), 300u);
  const std::vector<std::string_view> asked{"key number 1", "KEY NUMBER 2", "no key"};
  std::vector<int> seen(asked.size(), 0);
  EXPECT_EQ(m.visit_batch(asked, [&](std::size_t i, const int* v) { seen[i] = v != nullptr ? *v : -1; }), 2u);
  const std::vector<int> wanted{3, 4, -1};
  EXPECT_EQ(seen, wanted);
  EXPECT_TRUE(m.erase("kEY nUMBER 299"));
  EXPECT_FALSE(m.contains("Key number 299"));
  static_assert(std::is_same_v<typename decltype(m)::key_equal, equal_in_any_case>);
}

TYPED_TEST(equalities, of_words_and_with_namespaces) {
  cubby::map<int, int, TypeParam, hash_of_hour, std::allocator<std::byte>, same_hour> hours(tiny_options());
  cubby::set<int, TypeParam, hash_of_hour, std::allocator<std::byte>, same_hour> dial(tiny_options());
  cubby::map<cubby::in_namespace<int>, int, TypeParam, hash_of_hour, std::allocator<std::byte>, same_hour> named(
      tiny_options());
  for (int h = 0; h < 60; ++h) {
    ASSERT_EQ(hours.insert(h, h), h < 12) << h;
    ASSERT_EQ(dial.insert(h), h < 12) << h;
    ASSERT_EQ(named.insert({1, h}, h), h < 12) << h;
    ASSERT_EQ(named.insert({2, h}, h), h < 12) << h;
  }
  EXPECT_EQ(hours.find(25), 1);
  EXPECT_EQ(named.find({2, 25}), 1);
  EXPECT_EQ(named.size(), 24u);
  EXPECT_TRUE(dial.erase(49));
  EXPECT_FALSE(dial.contains(1));
}

template <class Engine> class equalities_by_threads : public ::testing::Test {};
TYPED_TEST_SUITE(equalities_by_threads, shared_engines);

TYPED_TEST(equalities_by_threads, one_of_equal_keys_is_inserted) {
  map_of_any_case<std::size_t, TypeParam> m(tiny_options());
  constexpr int keys = 200;
  std::vector<std::atomic<int>> inserted(keys);
  run_threads(4, [&](std::size_t t) {
    for (int n = 0; n < keys; ++n) {
      std::string k = "key " + std::to_string(n);
      k[t % 3] = static_cast<char>(std::toupper(static_cast<unsigned char>(k[t % 3])));
      if (m.insert(k, t)) inserted[static_cast<std::size_t>(n)].fetch_add(1);
    }
  });
  for (auto& count : inserted) ASSERT_EQ(count.load(), 1);
  EXPECT_EQ(m.size(), static_cast<std::size_t>(keys));
}

} // namespace
} // namespace cubby_test
