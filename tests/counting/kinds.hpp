// SPDX-License-Identifier: Apache-2.0
// The kinds of tables that are counted: their maps, their keys and values by number, and the hash that puts keys into bins.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>
#include <cubby/relativistic.hpp>
#include <cubby/set.hpp>

#include "modes.hpp"

namespace cubby_counting {

inline constexpr std::uint64_t keys_a_bin = 100;

/// Keys 100 g to 100 g + 99 share the bin of group g; other groups have other bins. `Shift`: from where in the hash an
/// engine takes the bin. `Tags`: where the keys of a bin differ, if the engine takes tags from there.
template <unsigned Shift, unsigned Tags = 64> struct hash_of_groups {
  using is_avalanching = void;
  using is_transparent = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept {
    const std::uint64_t bin = (key / keys_a_bin) << Shift;
    if constexpr (Tags < 64) return bin + ((key % keys_a_bin + 1) << Tags);
    else return bin;
  }
  std::uint64_t operator()(std::string_view key) const noexcept {
    return (*this)(std::strtoull(key.data() + 4, nullptr, 10));
  }
  std::uint64_t operator()(const cubby_test::tuple_key& key) const noexcept { return (*this)(key.number); }
};
inline constexpr std::uint64_t groups = 1 << 10;
template <class Engine, bool Wide> struct hash_for {
  using type = hash_of_groups<54>;
};
template <bool Wide> struct hash_for<cubby::relativistic, Wide> {
  using type = hash_of_groups<0>;
};
template <bool Wide> struct hash_for<cubby::iceberg, Wide> {
  using type = hash_of_groups<54, Wide ? 38 : 46>; // the tags of a bin are 1 to 100; those of wide slots have two bytes
};
template <class Engine, bool Wide = false> using grouping_hash = typename hash_for<Engine, Wide>::type;

/// Does not fit in a slot, so that its table is in record mode.
struct wide {
  std::uint64_t number = 0;
  std::uint64_t more[2] = {};
  friend wide operator+(wide a, wide b) { return {a.number + b.number, {}}; }
};

template <class Engine> struct words {
  using map = cubby::map<std::uint64_t, std::uint64_t, Engine, grouping_hash<Engine>>;
  static std::uint64_t key(std::uint64_t n) { return n; }
  static std::uint64_t value(std::uint64_t n) { return n; }
};
template <class Engine> struct records {
  using map = cubby::map<std::string, wide, Engine, grouping_hash<Engine, true>>;
  // longer than a slot's word, so that the record's key is compared, too
  static std::string key(std::uint64_t n) { return "key-" + std::to_string(1000000 + n); }
  static wide value(std::uint64_t n) { return {n, {}}; }
};
/// Texts that iceberg keeps in slots of 32 bytes.
template <class Engine> struct texts {
  using map = cubby::map<std::string, std::uint64_t, Engine, grouping_hash<Engine, true>>;
  static std::string key(std::uint64_t n) { return records<Engine>::key(n); }
  static std::uint64_t value(std::uint64_t n) { return n; }
};
/// A tuple of 64 bytes: one a line. Those of words have 32, so two of them share a line.
template <class Engine> struct lines {
  using map = cubby::map<cubby_test::tuple_key, cubby_test::tuple_value, Engine, grouping_hash<Engine, true>>;
  static cubby_test::tuple_key key(std::uint64_t n) { return {7, n}; }
  static cubby_test::tuple_value value(std::uint64_t n) { return cubby_test::tuple_value::of(n); }
};
/// Values that lie in records in every engine.
template <class Engine> struct text_values {
  using map = cubby::map<std::uint64_t, std::string, Engine, grouping_hash<Engine>>;
  static std::uint64_t key(std::uint64_t n) { return n; }
  static std::string value(std::uint64_t n) { return records<Engine>::key(n); }
};
template <class Engine> struct keys_alone {
  using map = cubby::set<std::uint64_t, Engine, grouping_hash<Engine>>;
  static std::uint64_t key(std::uint64_t n) { return n; }
};

} // namespace cubby_counting
