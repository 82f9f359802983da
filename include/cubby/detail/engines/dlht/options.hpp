// SPDX-License-Identifier: Apache-2.0
// What a DLHT table is told beside the options of every table, and the figures that it has beside those of every table.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/contract.hpp>

namespace cubby::inline v0::detail::engines::dlht {

/// How an index is laid out, and how it is moved to the next one.
struct index_options {
  std::uint32_t bins_per_link = 2; ///< link buckets are bins divided by this; the paper has 8
  std::size_t chunk_bins = 16384;  ///< bins that are taken at a time under `cooperative` and `background`
  std::size_t move_bins = 8;       ///< bins that an insert or an erase moves under `incremental`
  std::uint32_t growth_factor = 0; ///< 0 or 1: 8, 4 or 2 by size; else 2 to 64, rounded up to a power of two
};
/// `cubby::dlht::options{{.capacity = 1000}, {.move_bins = 16}}`.
struct options : cubby::options, index_options {};

struct table_stats : cubby::table_stats {
  std::size_t links = 0;      ///< link buckets of the current index
  std::size_t links_used = 0; ///< link buckets that are chained to a bin
};

} // namespace cubby::inline v0::detail::engines::dlht
