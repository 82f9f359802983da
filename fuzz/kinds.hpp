// SPDX-License-Identifier: Apache-2.0
// The tables that are fuzzed: words in slots, strings in records, keys and values that fill a line, and a set of words with
// the modulo hash. Also how a number from the input becomes a key, a value, or the options of a table.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <cubby/map.hpp>
#include <cubby/set.hpp>

#include "../tests/table_options.hpp"
#include "input.hpp"

namespace cubby_fuzz {

/// Two words, of which the first alone tells few keys apart; with a value of five, a tuple that fills its line.
struct line_key {
  std::uint64_t few = 0;
  std::uint64_t number = 0;
  bool operator==(const line_key&) const = default;
};
} // namespace cubby_fuzz
template <> inline constexpr bool cubby::bits_are_equality<cubby_fuzz::line_key> = true;
namespace cubby_fuzz {

/// All words follow from the first, so a value of which some words belong to another one is equal to none.
struct line_value {
  std::uint64_t words[5] = {};
  static line_value of(std::uint64_t n) { return {{n, ~n, n * 3, n * 5, n * 7}}; }
  bool operator==(const line_value&) const = default;
  line_value operator+(const line_value& more) const { return of(words[0] + more.words[0]); }
};
inline line_value changed(const line_value& old) { return line_value::of(old.words[0] * 3 + 1); }

/// Mixed, and cut to the bits of `mask`: with few of them keys meet in one bin, and growth does not part them.
struct masked_hash {
  using is_avalanching = void;
  using is_transparent = void;
  std::uint64_t mask = ~std::uint64_t{0};
  std::uint64_t operator()(std::uint64_t key) const { return cubby::mix(key) & mask; }
  std::uint64_t operator()(std::string_view key) const { return cubby::hash_bytes(key.data(), key.size()) & mask; }
  std::uint64_t operator()(const line_key& key) const { return cubby::hash_bytes(&key, sizeof key) & mask; }
};

/// Small numbers (the engine keeps 0 to 3 apart), and from 0xff00 on the largest there are.
inline std::uint64_t number_key(std::uint16_t n) { return n < 0xff00 ? n : ~static_cast<std::uint64_t>(0xffff - n); }

/// Lengths 0 to 8 lie in the slot, longer ones in the record; zero bytes and equal beginnings occur.
inline std::string text_key(std::uint16_t n) {
  const std::string digits = std::to_string(n / 16);
  if (n % 16 < 6) return std::string(static_cast<std::size_t>(n / 16 % 9), static_cast<char>(n % 6));
  if (n % 16 < 10) return digits;
  return "equal-beginning-" + std::string(static_cast<std::size_t>(n % 7), '\0') + digits;
}
inline std::string text_value(std::uint16_t n) {
  return std::string(n % 40u, static_cast<char>(n)) + std::to_string(n);
}

struct words {
  static constexpr const char* name = "map of words";
  static constexpr bool has_values = true;
  using hash = masked_hash;
  using key_type = std::uint64_t;
  using value_type = std::uint64_t;
  template <class Engine> using table = cubby::map<key_type, value_type, Engine, hash>;
  static key_type key(std::uint16_t n) { return number_key(n); }
  static value_type value(std::uint16_t n) { return number_key(n); }
};

struct texts {
  static constexpr const char* name = "map of strings";
  static constexpr bool has_values = true;
  using hash = masked_hash;
  using key_type = std::string;
  using value_type = std::string;
  template <class Engine> using table = cubby::map<key_type, value_type, Engine, hash>;
  static key_type key(std::uint16_t n) { return text_key(n); }
  static value_type value(std::uint16_t n) { return text_value(n); }
};

struct whole_lines {
  static constexpr const char* name = "map of whole lines";
  static constexpr bool has_values = true;
  using hash = masked_hash;
  using key_type = line_key;
  using value_type = line_value;
  template <class Engine> using table = cubby::map<key_type, value_type, Engine, hash>;
  static key_type key(std::uint16_t n) { return {n % 3u, number_key(n)}; }
  static value_type value(std::uint16_t n) { return line_value::of(number_key(n)); }
};

struct keys_alone {
  static constexpr const char* name = "set of words";
  static constexpr bool has_values = false;
  using hash = cubby::modulo_hash<std::uint64_t>;
  using key_type = std::uint64_t;
  using value_type = cubby::detail::no_value;
  template <class Engine> using table = cubby::set<key_type, Engine, hash>;
  static key_type key(std::uint16_t n) { return number_key(n); }
  static value_type value(std::uint16_t) { return {}; }
};

/// A table's options and hash, as the first bytes of an input choose them.
struct choice {
  cubby_test::table_options options;
  masked_hash hash;
  explicit choice(input& in) {
    static constexpr cubby::growth_policy growths[] = {cubby::growth_policy::incremental,
                                                       cubby::growth_policy::cooperative, cubby::growth_policy::fixed};
    static constexpr cubby::shrink_policy shrinks[] = {cubby::shrink_policy::manual, cubby::shrink_policy::automatic,
                                                       cubby::shrink_policy::never};
    static constexpr std::uint64_t masks[] = {~std::uint64_t{0}, 0, std::uint64_t{3} << 62, std::uint64_t{0xf} << 60};
    const unsigned policies = in.byte();
    const unsigned sizes = in.byte();
    options.growth = growths[policies % 3];
    // a thread of its own costs more than the rest of a run: only now and then
    if (policies >= 0xf8) options.growth = cubby::growth_policy::background;
    options.shrink = shrinks[policies / 3 % 3];
    hash.mask = masks[policies / 9 % 8 < 4 ? 0 : policies / 9 % 4];
    options.capacity = in.byte();
    options.seed = sizes;
    options.chunk_bins = 1 + sizes % 4;
    options.move_bins = 1 + sizes / 4 % 8;
    options.growth_factor = 2u << (sizes / 32 % 3);
    options.bins_per_link = 1u << (sizes / 96 * 2);
  }
  [[nodiscard]] bool hashes_are_few() const { return hash.mask != ~std::uint64_t{0}; }
};

} // namespace cubby_fuzz

/// For the model.
template <> struct std::hash<cubby_fuzz::line_key> {
  std::size_t operator()(const cubby_fuzz::line_key& key) const noexcept {
    return std::hash<std::uint64_t>()(key.number) + key.few;
  }
};
