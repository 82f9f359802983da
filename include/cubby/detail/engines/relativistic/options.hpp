// SPDX-License-Identifier: Apache-2.0
// The options that only this engine has, beside those of every table.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/contract.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// How buckets are zipped and unzipped.
struct resize_options {
  std::size_t chunk_bins = 16384;  ///< families of buckets that the thread of a `background` table takes at a time
  std::size_t move_bins = 8;       ///< families of buckets that one write moves under `incremental`
  std::uint32_t growth_factor = 0; ///< 0 or 1: 2; else a power of two, rounded up
};
/// `cubby::relativistic::options{{.capacity = 1000}, {.move_bins = 16}}`.
struct options : cubby::options, resize_options {};

} // namespace cubby::inline v0::detail::engines::relativistic
