// SPDX-License-Identifier: Apache-2.0
// The durable tables under the crash states: words, tuples, keys alone, and texts. Keys and values stand for tokens, so that one oracle
// judges them all. The hash puts crowds of keys into one bucket of a tiny table, and chooses whether a doubling parts them. The lists of
// codings are computed from engine_list.hpp: a durable engine gets those that differ in it.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <cubby/durable_map.hpp>

#include "crash/oracle.hpp"
#include "engines.hpp"
#include "support/random.hpp"

namespace cubby_test::crash {

/// Keys from here on share a bucket, its back buckets and its chain, at every size of the table.
inline constexpr token crowd = 1000;
/// Keys from here on share a front bucket until the table doubles. Then some of them go, and some stay.
inline constexpr token parting = 2000;

inline std::uint64_t hash_of(token key) {
  if (key >= parting) return splitmix(key % 8) << 32 >> 32 | std::uint64_t{5} << 56;
  return key >= crowd ? 5 : splitmix(key);
}
/// A value that stands for no token.
inline constexpr token torn_value = ~token{0};

struct word_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return hash_of(key); }
};
struct tuple_hash {
  using is_avalanching = void;
  std::uint64_t operator()(const std::array<std::uint64_t, 2>& key) const noexcept { return hash_of(key[0]); }
};
struct text_hash {
  using is_avalanching = void;
  using is_transparent = void;
  std::uint64_t operator()(std::string_view key) const noexcept {
    token number = 0;
    for (const char c : key.substr(0, key.find('.'))) number = number * 10 + static_cast<token>(c - '0');
    return hash_of(number);
  }
};

/// Carries out a call on a map or a handle of one.
template <class Coding, class Api> answer call_map(Api& m, const call& c) {
  const auto key = Coding::key(c.key);
  const auto sum = [&](const auto& v) { return Coding::value(Coding::token_of(v) + c.value); };
  switch (c.what) {
  case verb::find: {
    const auto got = m.find(key);
    if (!got) return {};
    return {true, Coding::token_of(*got)};
  }
  case verb::insert: return {m.insert(key, Coding::value(c.value)), {}};
  case verb::assign: return {m.assign(key, Coding::value(c.value)), {}};
  case verb::update: return {m.update(key, sum), {}};
  case verb::modify:
    if constexpr (cubby::detail::contract::exclusive<typename Coding::table::engine_type>)
      return {m.modify(key, [&](auto& v) { v = sum(v); }), {}};
    else return {m.update(key, sum), {}};
  case verb::insert_or_assign: return {m.insert_or_assign(key, Coding::value(c.value)), {}};
  case verb::erase: return {m.erase(key), {}};
  }
  return {};
}
/// What an engine says of itself.
template <class Engine> struct coding_in {
  using engine = Engine;
  /// How many keys may have one hash. Each durable engine whose bins are bounded takes 64.
  static constexpr std::size_t most_crowd =
      cubby::map<std::uint64_t, std::uint64_t, Engine>::capabilities.bounded_bins ? 64 : 1000;
  /// The bytes of the block of a record.
  static std::uint64_t block_of(std::size_t bytes) {
    namespace size = cubby::detail::block_size;
    return size::of(size::number_for(sizeof(cubby::detail::pool_layout::record_header) + bytes));
  }
};
template <class Coding, class Engine> struct map_coding : coding_in<Engine> {
  static constexpr bool has_values = true;
  template <class Api> static answer run(Api& m, const call& c) { return call_map<Coding>(m, c); }
  template <class Table, class F> static void each(const Table& m, F f) {
    m.visit_all([&](const auto& k, const auto& v) { f(Coding::token_of_key(k), Coding::token_of(v)); });
  }
};

/// Words in slots, or in records. Slots treat the zero key apart; in records it is a key like others.
template <class Engine> struct words_in : map_coding<words_in<Engine>, Engine> {
  using table = cubby::durable_map<std::uint64_t, std::uint64_t, word_hash, Engine>;
  static constexpr bool has_zero_key = has_slots<Engine>;
  static std::uint64_t key(token t) { return t; }
  static std::uint64_t value(token t) { return t; }
  static token token_of_key(std::uint64_t k) { return k; }
  static token token_of(std::uint64_t v) { return v; }
  static std::uint64_t block_bytes(token, token) {
    return has_slots<Engine> ? 0 : words_in::block_of(2 * sizeof(token));
  }
};
/// Tuples in slots.
template <class Engine> struct tuples_in : map_coding<tuples_in<Engine>, Engine> {
  using table = cubby::durable_map<std::array<std::uint64_t, 2>, std::uint64_t, tuple_hash, Engine>;
  static constexpr bool has_zero_key = false;
  static std::array<std::uint64_t, 2> key(token t) { return {t, ~t}; }
  static std::uint64_t value(token t) { return t; }
  static token token_of_key(const std::array<std::uint64_t, 2>& k) { return k[1] == ~k[0] ? k[0] : torn_value; }
  static token token_of(std::uint64_t v) { return v; }
  static std::uint64_t block_bytes(token, token) { return 0; }
};
/// Keys alone in slots. The value of each is 1.
template <class Engine> struct keys_in : coding_in<Engine> {
  using table = cubby::durable_set<std::uint64_t, word_hash, Engine>;
  static constexpr bool has_values = false;
  static constexpr bool has_zero_key = true;
  template <class Api> static answer run(Api& m, const call& c) {
    switch (c.what) {
    case verb::insert: return {m.insert(c.key), {}};
    case verb::erase: return {m.erase(c.key), {}};
    default: return m.contains(c.key) ? answer{true, 1} : answer{};
    }
  }
  template <class Table, class F> static void each(const Table& m, F f) {
    m.visit_all([&](const auto& k) { f(k, token{1}); });
  }
  static std::uint64_t block_bytes(token, token) { return 0; }
};
/// Texts, in records of one line to several.
template <class Engine> struct texts_in : map_coding<texts_in<Engine>, Engine> {
  using table = cubby::durable_map<std::string, std::string, text_hash, Engine>;
  static constexpr bool has_zero_key = false;
  static std::string key(token t) { return padded(t, t % 3 * 25); }
  static std::string value(token t) { return padded(t, t % 5 * 20); }
  static token token_of_key(const std::string& k) { return parsed(k, key); }
  static token token_of(const std::string& v) { return parsed(v, value); }
  static std::uint64_t block_bytes(token k, token v) { return texts_in::block_of(key(k).size() + value(v).size()); }

private:
  static std::string padded(token t, std::size_t more) {
    return std::to_string(t) + "." + std::string(more, static_cast<char>('a' + t % 26));
  }
  static token parsed(const std::string& text, std::string (*make)(token)) {
    const token t = std::strtoull(text.c_str(), nullptr, 10);
    return make(t) == text ? t : torn_value;
  }
};

/// The codings of the entries that have no record.
template <class Engine>
using slot_codings_of = types_if<has_slots<Engine>, words_in<Engine>, tuples_in<Engine>, keys_in<Engine>>;
template <class Engine>
using codings_of =
    join<slot_codings_of<Engine>, types_if<!has_slots<Engine>, words_in<Engine>>, ::testing::Types<texts_in<Engine>>>;
using slot_codings = join_over<slot_codings_of, durable_engines>;
using all_codings = join_over<codings_of, durable_engines>;

/// The options of the engine alone. Two buckets a segment, so that a hundred entries are split.
template <class Coding> typename Coding::table::own_options own_options_of() {
  typename Coding::table::own_options out;
  if constexpr (requires { out.segment_bits; }) out.segment_bits = 1;
  return out;
}

} // namespace cubby_test::crash

template <> inline constexpr std::uint64_t cubby::hash_is_stable<cubby_test::crash::word_hash> = 1;
template <> inline constexpr std::uint64_t cubby::hash_is_stable<cubby_test::crash::tuple_hash> = 2;
template <> inline constexpr std::uint64_t cubby::hash_is_stable<cubby_test::crash::text_hash> = 3;
