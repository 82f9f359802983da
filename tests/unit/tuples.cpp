// SPDX-License-Identifier: Apache-2.0
// What a tuple's header says, how large a tuple is, and that every bit of a key and of a value comes back.
#include <array>
#include <type_traits>

#include <gtest/gtest.h>

#include <cubby/dramhit_tuples.hpp>
#include <cubby/map.hpp>
#include <cubby/set.hpp>

namespace {

namespace dramhit = cubby::detail::engines::dramhit;

template <std::size_t N> struct bytes {
  std::array<unsigned char, N> at{};
  bool operator==(const bytes&) const = default;
};
} // namespace

template <std::size_t N> inline constexpr bool cubby::bits_are_equality<bytes<N>> = true;

namespace {

template <class K, class V> using table = cubby::map<K, V, cubby::dramhit_tuples>;

TEST(tuple_header, keeps_state_and_tag_while_its_version_wraps) {
  std::uint64_t h = dramhit::header_of(0xabcde, dramhit::state::live, dramhit::version_mask - 1);
  for (unsigned i = 0; i < 4; ++i, h = dramhit::stepped(h)) {
    EXPECT_EQ(dramhit::tag_of(h), 0xabcdeu);
    EXPECT_EQ(dramhit::state_of(h), dramhit::state::live);
    EXPECT_EQ(dramhit::is_written(h), i % 2 == 1) << i;
    EXPECT_EQ(dramhit::state_of(dramhit::in_state(h | dramhit::due_bit, dramhit::state::moving)),
              dramhit::state::moving);
    EXPECT_EQ(dramhit::in_state(h | dramhit::due_bit, dramhit::state::moving) & dramhit::due_bit, 0u);
  }
  EXPECT_EQ(h & dramhit::version_mask, 2u);
}

template <class K, class V> constexpr std::size_t bytes_of_tuple =
    dramhit::tuple_bytes<typename table<K, V>::engine_type::policy>;

TEST(tuple, takes_half_a_line_up_to_24_bytes_and_a_line_up_to_56) {
  using word = std::uint64_t;
  EXPECT_EQ((bytes_of_tuple<word, bytes<16>>), 32u);
  EXPECT_EQ((bytes_of_tuple<bytes<3>, bytes<9>>), 32u);
  EXPECT_EQ((bytes_of_tuple<bytes<16>, bytes<16>>), 64u);
  EXPECT_EQ((bytes_of_tuple<bytes<24>, bytes<32>>), 64u);
  table<bytes<24>, bytes<32>> m;
  ASSERT_TRUE(m.reserve(100000));
  EXPECT_GE(m.stats().bytes, m.capacity() * 64);
  EXPECT_LT(m.stats().bytes, 100000u * 128) << "64 bytes at three quarters full are 85";
}

template <class K, class V> void expect_every_bit_back() {
  table<K, V> m;
  V v{};
  const K none{};
  ASSERT_TRUE(m.insert(none, v));
  for (std::size_t i = 0; i < sizeof(K) * 8; ++i) {
    K k{};
    k.at[i / 8] = static_cast<unsigned char>(1u << i % 8);
    v.at[i % sizeof(V)] = static_cast<unsigned char>(i + 1);
    ASSERT_FALSE(m.contains(k)) << "bit " << i;
    ASSERT_TRUE(m.insert(k, v)) << "bit " << i;
    ASSERT_EQ(m.find(k), v) << "bit " << i;
  }
  EXPECT_EQ(m.find(none), V{});
  EXPECT_EQ(m.size(), sizeof(K) * 8 + 1);
}

TEST(tuple, tells_keys_apart_by_every_bit_and_gives_every_byte_back) {
  expect_every_bit_back<bytes<16>, bytes<24>>();
  expect_every_bit_back<bytes<3>, bytes<9>>();
  expect_every_bit_back<bytes<17>, bytes<1>>();
  expect_every_bit_back<bytes<48>, bytes<8>>();
}

/// A value with padding is compared by what it says, a key alone is a set's tuple.
TEST(tuple, may_have_a_value_with_padding_or_none) {
  struct padded {
    std::uint64_t wide = 0;
    std::uint8_t narrow = 0;
  };
  table<bytes<16>, padded> m;
  ASSERT_TRUE(m.insert(bytes<16>{}, padded{7, 8}));
  ASSERT_TRUE(m.update(bytes<16>{}, [](const padded& p) { return padded{p.wide + 1, p.narrow}; }));
  EXPECT_EQ(m.find(bytes<16>{})->wide, 8u);
  EXPECT_EQ(m.find(bytes<16>{})->narrow, 8u);
  cubby::set<bytes<16>, cubby::dramhit_tuples> s;
  static_assert(decltype(s)::mode == cubby::storage_mode::tuples);
  EXPECT_TRUE(s.insert(bytes<16>{}));
  EXPECT_FALSE(s.insert(bytes<16>{}));
  EXPECT_TRUE(s.erase(bytes<16>{}));
  EXPECT_TRUE(s.empty());
}

} // namespace
