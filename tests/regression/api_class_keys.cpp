// SPDX-License-Identifier: Apache-2.0
// A small class key is compared by its bits only when it says that they are its equality. One that says the contrary is
// compared by its own operator==, in every engine with records.
#include <array>
#include <chrono>
#include <cstddef>
#include <thread>

#include "engines.hpp"

namespace cubby_test {
namespace {

/// Equal when they are the same hour on a dial.
struct clock_hour {
  int hour = 0;
  friend bool operator==(clock_hour a, clock_hour b) { return a.hour % 12 == b.hour % 12; }
};
struct clock_hash {
  std::uint64_t operator()(clock_hour h) const { return static_cast<std::uint64_t>(h.hour % 12); }
};
/// Compares all its bits.
struct point {
  int x = 0;
  int y = 0;
  [[maybe_unused]] friend bool operator==(const point&, const point&) = default;
};
struct without_equality {
  short x, y;
};
enum class colour : std::uint8_t { red, green };
/// An operator== that is not const, or that belongs to an enumeration, is one as well.
struct hour_that_changes {
  int hour = 0;
  [[maybe_unused]] bool operator==(const hour_that_changes& other) { return hour % 12 == other.hour % 12; }
};
enum class hour_number : int {};
[[maybe_unused]] bool operator==(hour_number a, hour_number b) {
  return static_cast<int>(a) % 12 == static_cast<int>(b) % 12;
}

} // namespace
} // namespace cubby_test

template <> inline constexpr bool cubby::always_in_record<cubby_test::clock_hour> = true;
template <> inline constexpr bool cubby::bits_are_equality<cubby_test::point> = true;
template <> inline constexpr bool cubby::bits_are_equality<std::thread::id> = true;

namespace cubby_test {
namespace {

using cubby::bits_are_equality;
static_assert(bits_are_equality<int> && bits_are_equality<colour> && bits_are_equality<const int*> &&
              bits_are_equality<std::byte> && bits_are_equality<std::array<char, 8>> &&
              bits_are_equality<std::array<std::array<point, 2>, 3>> && bits_are_equality<without_equality>);
static_assert(!bits_are_equality<clock_hour> && !bits_are_equality<std::array<clock_hour, 2>> &&
              !bits_are_equality<std::chrono::seconds> && !bits_are_equality<hour_that_changes> &&
              !bits_are_equality<hour_number> && !bits_are_equality<std::array<hour_number, 2>>);
static_assert(cubby::mode_of<point, int> == cubby::storage_mode::words);
static_assert(cubby::mode_of<std::thread::id, int> == cubby::storage_mode::words);
static_assert(cubby::mode_of<without_equality, int> == cubby::storage_mode::words);
static_assert(cubby::mode_of<clock_hour, int> == cubby::storage_mode::records);

template <class Engine> class class_keys : public ::testing::Test {};
TYPED_TEST_SUITE(class_keys, every_engine);

TYPED_TEST(class_keys, are_one_key_when_their_own_equality_says_so) {
  cubby::map<clock_hour, int, TypeParam, clock_hash> m(tiny_options());
  cubby::map<cubby::in_namespace<clock_hour>, int, TypeParam, clock_hash> spaced(tiny_options());
  for (int h = 0; h < 60; ++h) {
    ASSERT_EQ(m.insert(clock_hour{h}, h), h < 12) << h;
    ASSERT_EQ(spaced.insert({1, clock_hour{h}}, h), h < 12) << h;
  }
  EXPECT_EQ(m.size(), 12u);
  EXPECT_EQ(m.find(clock_hour{25}), 1);
  EXPECT_EQ(spaced.find({1, clock_hour{25}}), 1);
  EXPECT_TRUE(m.erase(clock_hour{49}));
  EXPECT_FALSE(m.contains(clock_hour{1}));
}

TYPED_TEST(class_keys, are_their_bits_when_they_say_so) {
  cubby::map<point, int, TypeParam> m(tiny_options());
  cubby::set<std::thread::id, TypeParam> threads(tiny_options());
  cubby::set<without_equality, TypeParam> pairs(tiny_options());
  for (int n = 0; n < 100; ++n) ASSERT_TRUE(m.insert(point{n % 10, n / 10}, n)) << n;
  for (int n = 0; n < 100; ++n) ASSERT_EQ(m.find(point{n % 10, n / 10}), n) << n;
  EXPECT_TRUE(threads.insert(std::this_thread::get_id()));
  EXPECT_FALSE(threads.insert(std::this_thread::get_id()));
  EXPECT_FALSE(threads.contains(std::thread::id{}));
  EXPECT_TRUE(pairs.insert({1, 2}));
  EXPECT_FALSE(pairs.insert({1, 2}));
  EXPECT_TRUE(pairs.insert({2, 1}));
}

} // namespace
} // namespace cubby_test
