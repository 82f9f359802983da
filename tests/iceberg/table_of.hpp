// SPDX-License-Identifier: Apache-2.0
// The table behind a map of words, or of words to pairs of them, for tests that look at its chains, filters, pages or moves. An explicit
// instantiation may name a private member.
#pragma once

#include "engines.hpp"

namespace cubby_test {

using iceberg_words = cubby::map<std::uint64_t, std::uint64_t, cubby::iceberg>;
using iceberg_words_engine =
    std::remove_cvref_t<decltype(cubby::detail::engine_access::of(std::declval<const iceberg_words&>()))>;
using iceberg_words_table = cubby::detail::engines::iceberg::table<iceberg_words_engine::policy>;

struct iceberg_words_key {
  friend constexpr iceberg_words_table iceberg_words_engine::* table_member(iceberg_words_key);
};
/// Gives `table_member(Key)` its body.
template <class Key, auto Member> struct iceberg_member {
  friend constexpr decltype(Member) table_member(Key) { return Member; }
};
template struct iceberg_member<iceberg_words_key, &iceberg_words_engine::table_>;

inline const iceberg_words_table& table_of(const iceberg_words& m) {
  return cubby::detail::engine_access::of(m).*table_member(iceberg_words_key{});
}

/// More than a word, so that a slot has 32 bytes and a tag of two.
struct pair_of_words {
  std::uint64_t low = 0, high = 0;
  bool operator==(const pair_of_words&) const = default;
};
using iceberg_pairs = cubby::map<std::uint64_t, pair_of_words, cubby::iceberg>;
using iceberg_pairs_engine =
    std::remove_cvref_t<decltype(cubby::detail::engine_access::of(std::declval<const iceberg_pairs&>()))>;
using iceberg_pairs_table = cubby::detail::engines::iceberg::table<iceberg_pairs_engine::policy>;

struct iceberg_pairs_key {
  friend constexpr iceberg_pairs_table iceberg_pairs_engine::* table_member(iceberg_pairs_key);
};
template struct iceberg_member<iceberg_pairs_key, &iceberg_pairs_engine::table_>;

inline const iceberg_pairs_table& table_of(const iceberg_pairs& m) {
  return cubby::detail::engine_access::of(m).*table_member(iceberg_pairs_key{});
}

} // namespace cubby_test
