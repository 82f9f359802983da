// SPDX-License-Identifier: Apache-2.0
// The tables that are explored: what they hold, and how the numbers of a script become it.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <cubby/map.hpp>

#include "explore/arena.hpp"
#include "explore/scenario.hpp"
#include "modes.hpp"

namespace cubby_test {

template <class Engine>
struct explored_words {
  using engine = Engine;
  using hash = placed_hash;
  using value = std::uint64_t;
  using key_type = std::uint64_t;
  static constexpr bool in_records = false;
  static constexpr bool scans_may_repeat = false; ///< F.1
  template <class Map>
  static std::string name(const Map&, const void*) {
    return {};
  }
  static key_type encode_key(std::uint64_t n) { return n; }
  static std::uint64_t decode_key(key_type key) { return key; }
  static value encode(std::uint64_t n) { return n; }
  static std::uint64_t decode(const value& v) { return v; }
};
template <class Engine>
struct explored_records {
  using engine = Engine;
  using hash = placed_hash;
  using value = wide_value;
  using key_type = std::uint64_t;
  static constexpr bool in_records = true;
  static constexpr bool scans_may_repeat = false; ///< F.1
  template <class Map>
  static std::string name(const Map&, const void*) {
    return {};
  }
  static key_type encode_key(std::uint64_t n) { return n; }
  static std::uint64_t decode_key(key_type key) { return key; }
  static value encode(std::uint64_t n) { return {n, ~n, n * 3}; }
  static std::uint64_t decode(const value& v) { return v == encode(v.number) ? v.number : torn; }
};

/// The verb of a history that one of the first seven acts is.
inline verb verb_of(act what) {
  constexpr std::array same = {verb::find,    verb::insert,           verb::assign, verb::erase,
                               verb::extract, verb::insert_or_assign, verb::update};
  return same[static_cast<std::size_t>(what)];
}

/// `update`; or `modify`, whose function must have run once if it found the key, and not at all if not.
template <class Handle, class Key, class F>
bool renew(Handle& handle, const call& c, const Key& key, const F& make) {
  if (c.what != act::modify) return handle.update(key, make);
  if constexpr (Handle::capabilities.exclusive_modify) {
    unsigned runs = 0;
    const bool found = handle.modify(key, [&](auto& value) {
      ++runs;
      value = make(value);
    });
    if (runs == (found ? 1u : 0u)) return found;
    throw std::logic_error("modify ran its function " + std::to_string(runs) + " times and answered " +
                           (found ? "true" : "false"));
  }
  throw std::logic_error("this engine has no modify");
}

/// Carries out a script's part of a resize, or frees what may be freed. What there is to complain of; empty: nothing.
template <class Coding, class Map>
std::string drive([[maybe_unused]] Map& m, [[maybe_unused]] const call& c,
                  [[maybe_unused]] cubby::detail::thread_record& mine) {
  if constexpr (requires { Coding::pass(m, mine); }) {
    if (c.what == act::collect) cubby::detail::engine_access::of(m).collect(mine);
    if (c.what == act::resize) return Coding::resize(m, c.value) ? "" : "a resize did not begin";
    for (std::uint64_t n = 0; c.what == act::pass && n < c.value && Coding::pass(m, mine); ++n) {
    }
    return {};
  } else {
    return "no script resizes such a table";
  }
}

template <class Coding>
using explored_map = cubby::map<typename Coding::key_type, typename Coding::value, typename Coding::engine,
                                typename Coding::hash, arena_allocator<std::byte>>;

} // namespace cubby_test
