// SPDX-License-Identifier: Apache-2.0
// How types become words: which mode they choose, and that near and wide record words keep address and tag. Tables
// whose addresses are all too long for the slot's spare bits work like the others.
#include <string>
#include <string_view>
#include <system_error>

#include <gtest/gtest.h>

#include "engines.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

/// Strings and words of which every record's address counts as too long.
struct far_text : std::string {
  using std::string::string;
  explicit far_text(std::string s) : std::string(std::move(s)) {}
};
struct far_word {
  std::uint64_t n;
  bool operator==(const far_word&) const = default;
};

} // namespace
} // namespace cubby_test

template <> inline constexpr bool cubby::stored_as_bytes<cubby_test::far_text> = true;
template <> inline constexpr bool cubby::bits_are_equality<cubby_test::far_word> = true;
template <> inline constexpr unsigned cubby::detail::near_address_bits<cubby_test::far_text> = 20;
template <> inline constexpr unsigned cubby::detail::near_address_bits<cubby::in_namespace<cubby_test::far_text>> = 20;
template <> inline constexpr unsigned cubby::detail::near_address_bits<cubby::in_namespace<cubby_test::far_word>> = 20;

namespace own_equalities {
// Another type's operator== that an enumeration converts to is not the enumeration's own.
enum colour : int { red };
struct big_number {
  big_number(long); // NOLINT(google-explicit-constructor): that is the case
};
bool operator==(const big_number&, const big_number&);
enum class shade : int { dark };
bool operator==(shade, shade);
static_assert(cubby::bits_are_equality<colour> && cubby::bits_are_equality<std::errc>);
static_assert(!cubby::bits_are_equality<shade>);

} // namespace own_equalities

namespace cubby_test {
namespace {

static_assert(cubby::mode_of<std::uint64_t, std::uint64_t> == cubby::storage_mode::words);
static_assert(cubby::mode_of<std::uint8_t, double> == cubby::storage_mode::words);
static_assert(cubby::mode_of<std::uint64_t, cubby::detail::no_value> == cubby::storage_mode::keys_only);
static_assert(cubby::mode_of<std::string, int> == cubby::storage_mode::records);
static_assert(cubby::mode_of<int, std::string> == cubby::storage_mode::records);
static_assert(cubby::mode_of<cubby::in_namespace<int>, int> == cubby::storage_mode::records);
static_assert(cubby::mode_of<double, int> == cubby::storage_mode::records, "two representations of zero");

TEST(record_words, keep_address_and_tag) {
  using near = cubby::detail::record_word<48>;
  using far = cubby::detail::record_word<20>;
  random_source random(3100);
  for (unsigned i = 0; i < 1000; ++i) {
    auto* const record = reinterpret_cast<void*>(random.next() >> 16 & ~std::uint64_t{7});
    const auto tag = static_cast<std::uint32_t>(random.below(1 << 16));
    const std::uint64_t word = near::pack(record, tag);
    ASSERT_FALSE(near::is_wide(word));
    ASSERT_EQ(near::address(word), record);
    ASSERT_EQ(near::near_tag(word), tag);
    auto* const high = reinterpret_cast<void*>((random.next() | std::uint64_t{1} << 63) & ~std::uint64_t{7});
    ASSERT_TRUE(near::is_wide(near::pack(high, tag)));
    ASSERT_EQ(near::address(near::pack(high, tag)), high);
    ASSERT_TRUE(far::is_wide(far::pack(high, tag)));
  }
}

template <class Map, class Key>
void lives(Key key) {
  Map m(tiny_options());
  random_source random(3101);
  for (std::uint64_t n = 0; n < 500; ++n) ASSERT_TRUE(m.insert(key(n), n)) << n;
  for (std::uint64_t n = 0; n < 500; ++n) ASSERT_FALSE(m.insert(key(n), n)) << n;
  for (std::uint64_t n = 0; n < 500; n += 2) ASSERT_TRUE(m.erase(key(n)));
  m.shrink_to_fit();
  for (std::uint64_t n = 0; n < 500; ++n) ASSERT_EQ(m.find(key(n)), n % 2 != 0 ? std::optional(n) : std::nullopt) << n;
  std::size_t seen = 0;
  m.visit_all([&](const auto& k, std::uint64_t v) {
    ASSERT_EQ(k, key(v));
    ++seen;
  });
  EXPECT_EQ(seen, 250u);
  EXPECT_EQ(m.erase_if([](const auto&, std::uint64_t) { return true; }), 250u);
}

TEST(wide_addresses, serve_every_kind_of_key) {
  const auto text = [](std::uint64_t n) { return far_text(std::string(n % 20, 'x') + std::to_string(n)); };
  lives<cubby::map<far_text, std::uint64_t>>(text);
  lives<cubby::map<cubby::in_namespace<far_text>, std::uint64_t>>([&](std::uint64_t n) {
    return cubby::in_namespace<far_text>{static_cast<std::uint16_t>(n % 4096), text(n / 3)};
  });
  lives<cubby::map<cubby::in_namespace<far_word>, std::uint64_t>>([](std::uint64_t n) {
    return cubby::in_namespace<far_word>{static_cast<std::uint16_t>(n % 7), far_word{n / 7}};
  });
}

/// Keys that are equal without having the same bits are one key; the first one stays.
struct folded {
  std::string text;
  bool operator==(const folded& o) const {
    if (text.size() != o.text.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if ((text[i] | 32) != (o.text[i] | 32)) return false;
    }
    return true;
  }
};
struct folded_hash {
  std::uint64_t operator()(const folded& f) const {
    std::uint64_t h = 0;
    for (const char c : f.text) h = h * 31 + static_cast<std::uint64_t>(c | 32);
    return h;
  }
};

TEST(object_keys, are_compared_by_their_own_equality) {
  cubby::map<folded, std::uint64_t, cubby::dlht, folded_hash> m(tiny_options());
  EXPECT_TRUE(m.insert(folded{"Key"}, 1u));
  EXPECT_FALSE(m.insert(folded{"KEY"}, 2u));
  EXPECT_FALSE(m.insert_or_assign(folded{"key"}, 3u));
  EXPECT_EQ(m.find(folded{"kEy"}), 3u);
  m.visit_all([](const folded& k, std::uint64_t) { EXPECT_EQ(k.text, "Key"); });
  EXPECT_TRUE(m.erase(folded{"keY"}));
}

} // namespace
} // namespace cubby_test
