// SPDX-License-Identifier: Apache-2.0
// Prefetches of a cache line. A hint: it never faults and never blocks, and the processor may ignore it. It is assembly, because g++ 12
// drops calls of a function that contains only __builtin_prefetch. Builds with CUBBY_SYNC_HOOKS call a hook before each
// prefetch, so that tests can count them. Other builds pay nothing.
#pragma once

#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail {

#if CUBBY_SYNC_HOOKS
using prefetch_hook_function = void (*)(const void* address);
inline prefetch_hook_function& installed_prefetch_hook() noexcept {
  static prefetch_hook_function function = nullptr;
  return function;
}
/// Installs (or with null removes) the hook. Call it while no other thread uses a table.
inline void install_prefetch_hook(prefetch_hook_function function) noexcept { installed_prefetch_hook() = function; }
inline void prefetch_hook(const void* address) noexcept {
  if (auto* const function = installed_prefetch_hook()) function(address);
}
#else
CUBBY_ALWAYS_INLINE void prefetch_hook(const void*) noexcept {}
#endif

/// Fetches the line at `address` into every cache level, for reading. Any address will do.
CUBBY_ALWAYS_INLINE void prefetch_line(const void* address) noexcept {
  prefetch_hook(address);
#if defined(__x86_64__)
  asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(address)));
#else
  asm volatile("prfm pldl1keep, [%0]" : : "r"(address));
#endif
}
/// The same for a line that will be written: other cores lose it. x86-64 processors without that instruction ignore it.
CUBBY_ALWAYS_INLINE void prefetch_line_to_write(const void* address) noexcept {
  prefetch_hook(address);
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  asm volatile("prfm pstl1keep, [%0]" : : "r"(address));
#endif
}

} // namespace cubby::inline v0::detail
