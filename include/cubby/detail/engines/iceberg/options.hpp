// SPDX-License-Identifier: Apache-2.0
// The options that only this engine has, beside those of every table.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/contract.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// When a table grows, and how its buckets split.
struct resize_options {
  /// Per cent of all slots; at this load a table that may grow doubles. 50 to 97; others count as the nearer of these. 0: 91, or 75
  /// where slots hold texts, or 85 where other slots have more than 16 bytes.
  std::uint32_t grow_at = 0;
  std::size_t move_bins =
      1; ///< pairs of front buckets, or of back buckets, that one write splits or merges under `incremental`
  std::size_t chunk_bins = 4096; ///< pairs that a thread takes at a time under `cooperative` and `background`
};
/// `cubby::iceberg::options{{.capacity = 1000}, {.grow_at = 85}}`.
struct options : cubby::options, resize_options {};

} // namespace cubby::inline v0::detail::engines::iceberg
