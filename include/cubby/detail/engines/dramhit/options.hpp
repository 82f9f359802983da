// SPDX-License-Identifier: Apache-2.0
// What a table of this engine is told beside the options of every table.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/contract.hpp>
#include <cubby/detail/core/move_options.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// `cubby::dramhit::options{{.capacity = 1000}, {.move_bins = 16}}`.
struct options : cubby::options, arrays::move_options {};

/// The parts of a table whose writes are delegated, and how a part grows.
struct partition_tuning {
  std::size_t partitions = 0;      ///< 0 chooses 16, or one for each of `owners` if they are more; at most 4096
  std::size_t owners = 0;          ///< threads of the table that carry out what handles send
  std::uint32_t growth_factor = 0; ///< as above
};
/// `cubby::partitioned::options{{.capacity = 1000}, {.partitions = 4, .owners = 2}}`. `growth` is `fixed`, or anything else: the
/// writer of a partition then copies it to a larger array.
struct partition_options : cubby::options, partition_tuning {};

} // namespace cubby::inline v0::detail::engines::dramhit
