// SPDX-License-Identifier: Apache-2.0
// The tables that are explored: what they hold, and how the numbers of a script become it.
#pragma once

#include <cstdint>
#include <string>

#include <cubby/map.hpp>

#include "explore/arena.hpp"
#include "explore/scenario.hpp"
#include "support/modes.hpp"

namespace cubby_test {

template <class Engine>
struct explored_words {
  using engine = Engine;
  using value = std::uint64_t;
  static constexpr bool walks_may_repeat = false; ///< F.1
  template <class Map>
  static std::string name(const Map&, const void*) {
    return {};
  }
  static value encode(std::uint64_t n) { return n; }
  static std::uint64_t decode(const value& v) { return v; }
};
template <class Engine>
struct explored_records {
  using engine = Engine;
  using value = wide_value;
  static constexpr bool walks_may_repeat = false; ///< F.1
  template <class Map>
  static std::string name(const Map&, const void*) {
    return {};
  }
  static value encode(std::uint64_t n) { return {n, ~n, n * 3}; }
  static std::uint64_t decode(const value& v) { return v == encode(v.number) ? v.number : torn; }
};

template <class Coding>
using explored_map =
    cubby::map<std::uint64_t, typename Coding::value, typename Coding::engine, placed_hash, arena_allocator<std::byte>>;

} // namespace cubby_test
