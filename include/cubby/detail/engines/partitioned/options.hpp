// SPDX-License-Identifier: Apache-2.0
// The options that only this engine has, beside those of every table.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/contract.hpp>

namespace cubby::inline v0::detail::engines::partitioned {

/// How many partitions a table has, which threads write to them, and how a partition grows.
struct partition_tuning {
  std::size_t partitions = 0;      ///< 0 chooses 16, or one for each of `owners` if they are more; at most 4096
  std::size_t owners = 0;          ///< threads of the table that carry out what handles send
  std::uint32_t growth_factor = 0; ///< 0 or 1: 8, 4 or 2 by size; else 2 to 64
};
/// `cubby::partitioned::options{{.capacity = 1000}, {.partitions = 4, .owners = 2}}`. With `growth_policy::fixed` the table
/// refuses new keys at its capacity. With every other policy the writer of a crowded partition copies it to a larger array. A table
/// shrinks only when it is told to: `shrink_policy::automatic` means the same as `manual`.
struct options : cubby::options, partition_tuning {};

} // namespace cubby::inline v0::detail::engines::partitioned
