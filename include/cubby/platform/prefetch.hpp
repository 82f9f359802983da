// SPDX-License-Identifier: Apache-2.0
// Asks for a cache line before it is needed. A hint: never faults, never blocks, may be ignored by the processor.
#pragma once

namespace cubby::inline v0 {

/// Fetches the line at `address` into every cache level, for reading.
inline void prefetch_line(const void* address) noexcept { __builtin_prefetch(address, 0, 3); }

} // namespace cubby::inline v0
