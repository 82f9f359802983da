// SPDX-License-Identifier: Apache-2.0
// What the recovery of a durable table has found, in numbers of entries.
#pragma once

#include <cstdint>

namespace cubby::inline v0::detail {

/// What recovery has found.
struct recovery_report {
  std::uint64_t entries = 0;
  std::uint64_t moved = 0;    ///< entries of a move that was cut short
  std::uint64_t dropped = 0;  ///< second copies of such entries
  std::uint64_t torn = 0;     ///< entries that no sync had covered
  std::uint64_t restored = 0; ///< entries with the value before one that no sync had covered
  std::uint64_t logged = 0;   ///< changes that the log had
  std::uint64_t damaged = 0;  ///< entries that contradict each other, or what is written beside them
};

} // namespace cubby::inline v0::detail
