// SPDX-License-Identifier: Apache-2.0
// The kinds of keys and values that every test runs over. They are words in the slot, texts in the slot where an engine
// has them there, strings and wide values in records, and keys with a namespace. A mode makes keys and values from
// numbers and turns a value back, refusing one that is torn.
#pragma once

#include <cstdint>
#include <string>

#include <cubby/map.hpp>

namespace cubby_test {

inline constexpr std::uint64_t torn = ~std::uint64_t{0};

template <class Engine>
struct word_mode {
  using engine = Engine;
  using key_type = std::uint64_t;
  using mapped_type = std::uint64_t;
  using map = cubby::map<key_type, mapped_type, Engine>;
  static key_type key(std::uint64_t n) { return n; }
  static std::uint64_t number_of_key(const key_type& k) { return k; }
  static mapped_type value(std::uint64_t n) { return n; }
  static std::uint64_t number(const mapped_type& v) { return v; }
};

inline std::string text_value(std::uint64_t n) { return std::to_string(n) + std::string(n % 61, 'v'); }
inline std::uint64_t text_number(const std::string& v) {
  std::uint64_t n = 0;
  for (char c : v) {
    if (c < '0' || c > '9') break;
    n = n * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return text_value(n) == v ? n : torn;
}

template <class Engine>
struct text_mode {
  using engine = Engine;
  using key_type = std::string;
  using mapped_type = std::string;
  using map = cubby::map<key_type, mapped_type, Engine>;
  // The same first eight and last eight characters in every key: only the whole key tells them apart.
  static key_type key(std::uint64_t n) { return "same-key" + std::to_string(n) + "same-end"; }
  static std::uint64_t number_of_key(const key_type& k) { return std::stoull(k.substr(8)); }
  static mapped_type value(std::uint64_t n) { return text_value(n); }
  static std::uint64_t number(const mapped_type& v) { return text_number(v); }
};

/// Keys of 9 to 40 bytes beside values of a word. An engine that keeps texts in its slots has the even ones there, and the
/// odd ones in key records.
template <class Engine>
struct slot_text_mode {
  using engine = Engine;
  using key_type = std::string;
  using mapped_type = std::uint64_t;
  using map = cubby::map<key_type, mapped_type, Engine>;
  static constexpr std::size_t before = 8;
  // The same first and last characters in all keys of a kind: only the whole key tells them apart.
  static key_type key(std::uint64_t n) {
    return "same-key" + std::to_string(n) + (n % 2 == 0 ? "" : "-which-is-too-long-for-a-slot");
  }
  static std::uint64_t number_of_key(const key_type& k) {
    const std::uint64_t n = std::stoull(k.substr(before));
    return key(n) == k ? n : torn;
  }
  static mapped_type value(std::uint64_t n) { return n; }
  static std::uint64_t number(const mapped_type& v) { return v; }
};

struct wide_value {
  std::uint64_t number = 0;
  std::uint64_t inverse = ~std::uint64_t{0};
  std::uint64_t triple = 0;
  bool operator==(const wide_value&) const = default;
};

template <class Engine>
struct wide_mode {
  using engine = Engine;
  using key_type = std::uint32_t;
  using mapped_type = wide_value;
  using map = cubby::map<key_type, mapped_type, Engine>;
  static key_type key(std::uint64_t n) { return static_cast<key_type>(n); }
  static std::uint64_t number_of_key(const key_type& k) { return k; }
  static mapped_type value(std::uint64_t n) { return {n, ~n, n * 3}; }
  static std::uint64_t number(const mapped_type& v) { return v == value(v.number) ? v.number : torn; }
};

/// Keys of two words, the first of them the same in all, and values of four: one tuple of 64 bytes with its header.
struct tuple_key {
  std::uint64_t same = 0;
  std::uint64_t number = 0;
  bool operator==(const tuple_key&) const = default;
};
} // namespace cubby_test
template <> inline constexpr bool cubby::bits_are_equality<cubby_test::tuple_key> = true;
namespace cubby_test {

struct tuple_value {
  std::uint64_t number = 0;
  std::uint64_t inverse = ~std::uint64_t{0};
  std::uint64_t triple = 0;
  std::uint64_t fivefold = 0;
  bool operator==(const tuple_value&) const = default;
  tuple_value operator+(const tuple_value& more) const { return of(number + more.number); }
  static tuple_value of(std::uint64_t n) { return {n, ~n, n * 3, n * 5}; }
};

template <class Engine>
struct tuple_mode {
  using engine = Engine;
  using key_type = tuple_key;
  using mapped_type = tuple_value;
  using map = cubby::map<key_type, mapped_type, Engine>;
  static key_type key(std::uint64_t n) { return {7, n}; }
  static std::uint64_t number_of_key(const key_type& k) { return k.same == 7 ? k.number : torn; }
  static mapped_type value(std::uint64_t n) { return tuple_value::of(n); }
  static std::uint64_t number(const mapped_type& v) { return v == value(v.number) ? v.number : torn; }
};

/// Keys 0, 1, 2 ... go round three namespaces, so that equal inner keys meet in one table.
template <class Engine>
struct named_mode {
  using engine = Engine;
  using key_type = cubby::in_namespace<std::uint64_t>;
  using mapped_type = std::uint64_t;
  using map = cubby::map<key_type, mapped_type, Engine>;
  static constexpr std::uint16_t ids[3] = {0, 1, 4095};
  static key_type key(std::uint64_t n) { return {ids[n % 3], n / 3}; }
  static std::uint64_t number_of_key(const key_type& k) {
    return k.key * 3 + (k.id == ids[0] ? 0u : k.id == ids[1] ? 1u : 2u);
  }
  static mapped_type value(std::uint64_t n) { return n; }
  static std::uint64_t number(const mapped_type& v) { return v; }
};

template <class Engine>
struct named_text_mode {
  using engine = Engine;
  using key_type = cubby::in_namespace<std::string>;
  using mapped_type = std::string;
  using map = cubby::map<key_type, mapped_type, Engine>;
  static key_type key(std::uint64_t n) {
    return {named_mode<Engine>::ids[n % 3], "long-enough-a-key" + std::to_string(n / 3)};
  }
  static std::uint64_t number_of_key(const key_type& k) {
    return named_mode<Engine>::number_of_key({k.id, std::stoull(k.key.substr(17))});
  }
  static mapped_type value(std::uint64_t n) { return text_value(n); }
  static std::uint64_t number(const mapped_type& v) { return text_number(v); }
};

} // namespace cubby_test
