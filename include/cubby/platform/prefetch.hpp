// SPDX-License-Identifier: Apache-2.0
// Asks for a cache line before it is needed. A hint: never faults, never blocks, may be ignored by the processor.
// Assembly, because g++ 12 takes a function around __builtin_prefetch for one without effect and drops calls of it.
#pragma once

#include <cubby/platform/cpu.hpp>

namespace cubby::inline v0 {

/// Fetches the line at `address` into every cache level, for reading. Any address will do.
[[gnu::always_inline]] inline void prefetch_line(const void* address) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetcht0 (%0)" : : "r"(address));
#else
  asm volatile("prfm pldl1keep, [%0]" : : "r"(address));
#endif
}
/// The same for a line that will be written: other cores give it up. x86-64 processors without that instruction ignore it.
[[gnu::always_inline]] inline void prefetch_line_to_write(const void* address) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw (%0)" : : "r"(address));
#else
  asm volatile("prfm pstl1keep, [%0]" : : "r"(address));
#endif
}

} // namespace cubby::inline v0
