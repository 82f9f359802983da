// SPDX-License-Identifier: Apache-2.0
// An array of words: the form of a key or a value in an engine of tuples.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail {

/// Calls `f(i)` for each i below `Count`, without a loop: compilers keep such short loops at -O2, and then the words lie in memory.
template <std::size_t Count, class F> CUBBY_ALWAYS_INLINE constexpr void for_each_word(const F& f) noexcept {
  [&]<std::size_t... Index>(std::index_sequence<Index...>)
      CUBBY_INLINED { (f(Index), ...); }(std::make_index_sequence<Count>());
}

/// `Count` words; 0 for the value of a set. Equal if all words are equal.
template <std::size_t Count> struct words {
  static constexpr std::size_t count = Count;
  std::array<std::uint64_t, Count> at;
  [[nodiscard]] CUBBY_ALWAYS_INLINE friend constexpr bool operator==(const words& a, const words& b) noexcept {
    std::uint64_t differ = 0;
    for_each_word<Count>([&](std::size_t i) CUBBY_INLINED { differ |= a.at[i] ^ b.at[i]; });
    return differ == 0;
  }
};

/// The hashed key for an engine of tuples: the hash, and the whole key. Without initial values, as word_probe.
template <class Key> struct tuple_probe {
  std::uint64_t hash;
  Key key;
};

} // namespace cubby::inline v0::detail
