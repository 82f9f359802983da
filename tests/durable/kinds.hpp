// SPDX-License-Identifier: Apache-2.0
// The kinds of durable tables, each with its types and the keys and values that belong to a number. Key 0 and the first values are
// those that slots treat apart: zero words, words of ones, empty texts.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include <cubby/durable_map.hpp>
#include <cubby/seph.hpp>

#include "support/random.hpp"

namespace cubby_test {

using two_words = std::array<std::uint64_t, 2>;

/// A value of 48 bytes. A value that is torn shows it.
struct six_words {
  std::uint64_t at[6];
  friend bool operator==(const six_words& a, const six_words& b) { return std::memcmp(&a, &b, sizeof a) == 0; }
};

template <class T> T key_of(std::uint64_t number);
template <> inline std::uint64_t key_of(std::uint64_t number) { return number == 1 ? ~std::uint64_t{0} : number; }
template <> inline two_words key_of(std::uint64_t number) {
  if (number < 4) return {number % 2 == 0 ? 0 : ~std::uint64_t{0}, number < 2 ? 0 : ~std::uint64_t{0}};
  return {splitmix(number), number};
}
template <> inline std::string key_of(std::uint64_t number) {
  if (number == 0) return {};
  std::string text = std::to_string(number);
  if (number % 3 == 1) text.resize(text.size() + number % 90, '#'); // some are longer than any slot
  return text;
}

/// The value that belongs to a number; `number` can be read from it.
template <class T> T value_of(std::uint64_t number);
template <> inline std::uint64_t value_of(std::uint64_t number) { return number == 1 ? ~std::uint64_t{0} : number; }
template <> inline six_words value_of(std::uint64_t number) {
  six_words out{};
  for (auto& word : out.at) word = number;
  return out;
}
template <> inline std::string value_of(std::uint64_t number) {
  if (number == 0) return {};
  std::string text = std::to_string(number) + ' ';
  text.resize(text.size() + splitmix(number) % (number % 16 == 2 ? 3000 : 60), static_cast<char>('a' + number % 26));
  return text;
}
template <class T> std::uint64_t number_of(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) return value.empty() ? 0 : std::stoull(value);
  else if constexpr (std::is_same_v<T, six_words>) return value.at[0];
  else return value == ~T{0} ? 1 : value;
}
/// Whether it is the whole value of its number.
template <class T> bool is_whole_value(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (!value.empty() && (value[0] < '0' || value[0] > '9')) return false;
  }
  return value == value_of<T>(number_of(value));
}

template <class K, class V, class Engine = cubby::iceberg> struct map_kind {
  using key_type = K;
  using mapped_type = V;
  using table = cubby::durable_map<K, V, cubby::hash<K>, Engine>;
};
template <class K, class Engine = cubby::iceberg> struct set_kind {
  using key_type = K;
  using mapped_type = void;
  using table = cubby::durable_set<K, cubby::hash<K>, Engine>;
};
using kind_of_words = map_kind<std::uint64_t, std::uint64_t>;
using kind_of_tuples = map_kind<two_words, std::uint64_t>;
using kind_of_texts = map_kind<std::string, std::string>;
using kind_of_counted_texts = map_kind<std::string, std::uint64_t>;
using kind_of_structs = map_kind<std::uint64_t, six_words>;
using kind_of_seph_words = map_kind<std::uint64_t, std::uint64_t, cubby::seph>;
using kind_of_seph_texts = map_kind<std::string, std::string, cubby::seph>;
using kind_of_seph_structs = map_kind<std::uint64_t, six_words, cubby::seph>;

/// Options with a log of so many bytes, if tables of the kind can have one.
template <class Kind> cubby::durable_options with_log_of(std::size_t log_bytes, cubby::durable_options wanted) {
  if (Kind::table::engine_type::has_log) wanted.log_bytes = log_bytes;
  return wanted;
}

} // namespace cubby_test
