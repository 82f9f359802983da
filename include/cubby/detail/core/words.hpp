// SPDX-License-Identifier: Apache-2.0
// An array of words: the form of a key or a value in an engine of tuples.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <cubby/detail/platform/cpu.hpp>

namespace cubby::inline v0::detail {

/// `Count` words; 0 for the value of a set. Equal if all words are equal.
template <std::size_t Count> struct words {
  static constexpr std::size_t count = Count;
  std::array<std::uint64_t, Count> at;
  bool operator==(const words&) const = default;
};

/// The hashed key for an engine of tuples: the hash, and the whole key. Without initial values, as word_probe.
template <class Key> struct tuple_probe {
  std::uint64_t hash;
  Key key;
};

} // namespace cubby::inline v0::detail
