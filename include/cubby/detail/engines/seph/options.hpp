// SPDX-License-Identifier: Apache-2.0
// The options that only this engine has, beside those of every table.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/contract.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// How large the segments are.
struct segment_options {
  /// A physical segment has 2 to this power buckets of 32 slots, 1 to 9. One split moves the entries of half a segment.
  std::uint32_t segment_bits = 6;
};
/// `cubby::seph::options{{.capacity = 1000}, {.segment_bits = 4}}`.
struct options : cubby::options, segment_options {};

} // namespace cubby::inline v0::detail::engines::seph
