// SPDX-License-Identifier: Apache-2.0
// The options of engines that keep their entries in one flat array (detail/core/migration.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace cubby::inline v0::detail::arrays {

/// How entries move from an array to the next one.
struct move_options {
  std::size_t chunk_bins = 16384;  ///< lines that a thread takes at a time under `cooperative` and `background`
  std::size_t move_bins = 8;       ///< lines that one write moves under `incremental`, in whole units of 8
  std::uint32_t growth_factor = 0; ///< 0 or 1: 8, 4 or 2 by size; else 2 to 64
};

} // namespace cubby::inline v0::detail::arrays
