// SPDX-License-Identifier: Apache-2.0
// The options that only this engine has, beside those of every table.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/contract.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// How entries move from an array to the next one.
struct move_options {
  std::size_t chunk_bins = 16384;  ///< lines that a thread takes at a time under `cooperative` and `background`
  std::size_t move_bins = 8;       ///< lines that one write moves under `incremental`, in whole units of 8
  std::uint32_t growth_factor = 0; ///< 0 or 1: 8, 4 or 2 by size; else 2 to 64
};
/// `cubby::dramhit::options{{.capacity = 1000}, {.move_bins = 16}}`.
struct options : cubby::options, move_options {};

} // namespace cubby::inline v0::detail::engines::dramhit
