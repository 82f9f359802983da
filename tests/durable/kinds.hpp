// SPDX-License-Identifier: Apache-2.0
// The kinds of durable tables, each with its types and the keys and values that belong to a number. Key 0 and the first values are
// those that slots treat apart: zero words, words of ones, empty texts. The lists of kinds are computed from engine_list.hpp: a durable
// engine gets those that differ in it.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include <cubby/durable_map.hpp>

#include "engines.hpp"
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
template <class Engine> using words_in = map_kind<std::uint64_t, std::uint64_t, Engine>;
template <class Engine> using tuples_in = map_kind<two_words, std::uint64_t, Engine>;
template <class Engine> using texts_in = map_kind<std::string, std::string, Engine>;
template <class Engine> using counted_texts_in = map_kind<std::string, std::uint64_t, Engine>;
template <class Engine> using structs_in = map_kind<std::uint64_t, six_words, Engine>;
template <class Engine> using texts_of_tuples_in = map_kind<two_words, std::string, Engine>;
/// Of the default engine, for tests of what does not depend on it.
using kind_of_words = words_in<cubby::iceberg>;
using kind_of_texts = texts_in<cubby::iceberg>;

/// One kind for each codec of an engine. Where all entries are in records: of words, and of texts.
template <class Engine>
using few_kinds_of = join<testing::Types<words_in<Engine>>, types_if<has_slots<Engine>, tuples_in<Engine>>,
                          testing::Types<texts_in<Engine>>>;
/// With records of one size where words are in slots.
template <class Engine>
using main_kinds_of = join<few_kinds_of<Engine>, types_if<has_slots<Engine>, structs_in<Engine>>>;
/// Each kind of key with each kind of value.
template <class Engine>
using every_kind_of = join<few_kinds_of<Engine>, types_if<has_slots<Engine>, counted_texts_in<Engine>>,
                           testing::Types<structs_in<Engine>>, types_if<has_slots<Engine>, texts_of_tuples_in<Engine>>>;
template <class Engine>
using every_set_of =
    join<testing::Types<set_kind<std::uint64_t, Engine>>, types_if<has_slots<Engine>, set_kind<two_words, Engine>>,
         testing::Types<set_kind<std::string, Engine>>>;
/// Engines whose tables can have a log.
template <class Engine>
using engine_with_log = types_if<words_in<Engine>::table::engine_type::has_log, Engine>;
using logging_engines = join_over<engine_with_log, durable_engines>;

using few_kinds = join_over<few_kinds_of, durable_engines>;
using main_kinds = join_over<main_kinds_of, durable_engines>;
using every_kind = join_over<every_kind_of, durable_engines>;
using every_logged_kind = join_over<every_kind_of, logging_engines>;
using every_set = join_over<every_set_of, durable_engines>;

/// Options with a log of so many bytes, if tables of the kind can have one.
template <class Kind> cubby::durable_options with_log_of(std::size_t log_bytes, cubby::durable_options wanted) {
  if (Kind::table::engine_type::has_log) wanted.log_bytes = log_bytes;
  return wanted;
}

} // namespace cubby_test
