// SPDX-License-Identifier: Apache-2.0
// The question that a table is asked: what the codec of the API makes of a key, and what every engine understands.
#pragma once

#include <cstdint>

#include <cubby/detail/platform/cpu.hpp>

namespace cubby::inline v0 {

namespace detail {

/// Where an engine is asked to look: `hash` chooses the bin, `word` is compared with the key words of slots.
/// A policy's own probe adds the whole key, for when equal words do not prove equal keys. Without initial values: batches
/// hold many of them on the stack.
struct word_probe {
  std::uint64_t hash;
  std::uint64_t word;
};

} // namespace detail

/// How a hash becomes a bin: the high bits of a product (needs a mixed hash), or the remainder (DLHT section 3.4.3).
enum class bin_mapping : std::uint8_t { fastrange, modulo };

} // namespace cubby::inline v0
