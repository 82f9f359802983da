// SPDX-License-Identifier: Apache-2.0
// Some words side by side: what a key or a value of a tuple is to an engine that keeps tuples in its table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <cubby/detail/platform/cpu.hpp>

namespace cubby::inline v0::detail {

/// `Count` words, 0 for the value of a set. Equal when all words are.
template <std::size_t Count> struct words {
  static constexpr std::size_t count = Count;
  std::array<std::uint64_t, Count> at;
  bool operator==(const words&) const = default;
};

/// The question that an engine of tuples is asked: where to look, and the whole key. Without initial values, as word_probe.
template <class Key> struct tuple_probe {
  std::uint64_t hash;
  Key key;
};

} // namespace cubby::inline v0::detail
