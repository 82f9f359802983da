// SPDX-License-Identifier: Apache-2.0
// The store-load fence between "I am here" and "what is there", moved to the rare side.
// `publish` is a plain store where the kernel has membarrier; `heavy` then makes every running thread pass a fence.
// Without membarrier `publish` fences for itself and `heavy` fences only the caller.
#pragma once

#include <cubby/platform/sync.hpp>

#include <sys/syscall.h>
#include <unistd.h>

namespace cubby::inline v0::barrier {

namespace detail {
inline constexpr int register_private_expedited = 1 << 4;
inline constexpr int private_expedited = 1 << 3;

inline bool kernel_has_membarrier() noexcept { return syscall(__NR_membarrier, register_private_expedited, 0, 0) == 0; }
inline bool& asymmetric() noexcept {
  static bool chosen = kernel_has_membarrier();
  return chosen;
}
} // namespace detail

/// Whether the cheap side is a plain store in this process.
inline bool is_asymmetric() noexcept { return detail::asymmetric(); }

/// Makes every `publish` fence for itself, as on kernels without membarrier. Call it before any table exists.
inline void disable_membarrier() noexcept { detail::asymmetric() = false; }

/// Stores `value` so that the caller's later loads see everything that precedes a `heavy` which missed the store.
CUBBY_ALWAYS_INLINE void publish(sync::word<std::uint64_t>& at, std::uint64_t value, bool asymmetric) noexcept {
  if (asymmetric) [[likely]] {
    at.store(value, sync::release);
    asm volatile("" ::: "memory");
  } else {
    (void)at.exchange(value, sync::seq_cst);
#if defined(__aarch64__)
    sync::hook(sync::step::fence, nullptr);
    asm volatile("dmb ish" ::: "memory");
#endif
  }
}

/// After it, a `publish` that is not yet visible belongs to a thread whose later loads see what came before the call.
/// A system call of some microseconds; blocks only for that long.
inline void heavy() noexcept {
  sync::hook(sync::step::fence, nullptr);
  if (is_asymmetric()) {
    (void)syscall(__NR_membarrier, detail::private_expedited, 0, 0);
  } else {
#if defined(__x86_64__)
    asm volatile("mfence" ::: "memory");
#else
    asm volatile("dmb ish" ::: "memory");
#endif
  }
}

} // namespace cubby::inline v0::barrier
