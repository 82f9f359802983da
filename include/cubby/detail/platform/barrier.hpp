// SPDX-License-Identifier: Apache-2.0
// The store-load fence between "I am here" and "what is there", moved to the rare side where the kernel has membarrier:
// `publish` is a plain store there, and `all_threads` makes every running thread pass a fence. Without it `publish_fenced`
// fences for itself, and `this_thread` fences the caller. Which of the two holds is each domain's (core/domain.hpp).
#pragma once

#include <cubby/detail/platform/sync.hpp>

#include <sys/syscall.h>
#include <unistd.h>

namespace cubby::inline v0::detail::barrier {

namespace detail {
inline constexpr int register_private_expedited = 1 << 4;
inline constexpr int private_expedited = 1 << 3;

inline bool kernel_has_membarrier() noexcept { return syscall(__NR_membarrier, register_private_expedited, 0, 0) == 0; }
inline bool& asymmetric() noexcept {
  static bool chosen = kernel_has_membarrier();
  return chosen;
}
} // namespace detail

/// Whether domains begin with the cheap side as a plain store.
inline bool is_asymmetric() noexcept { return detail::asymmetric(); }

/// Makes readers fence for themselves, as on kernels without membarrier. Call it before any table exists.
inline void disable_membarrier() noexcept { detail::asymmetric() = false; }

/// Stores `value` so that the caller's later loads see everything that precedes an `all_threads` which missed the store.
CUBBY_ALWAYS_INLINE void publish(sync::word<std::uint64_t>& at, std::uint64_t value) noexcept {
  at.store(value, sync::release);
  asm volatile("" ::: "memory");
}
/// The same before a `this_thread` of somebody else which missed the store.
CUBBY_ALWAYS_INLINE void publish_fenced(sync::word<std::uint64_t>& at, std::uint64_t value) noexcept {
  (void)at.exchange(value, sync::seq_cst);
#if defined(__aarch64__)
  sync::hook(sync::step::fence, nullptr);
  asm volatile("dmb ish" ::: "memory");
#endif
}

/// After it, a `publish` that is not yet visible belongs to a thread whose later loads see what came before the call.
/// A system call of some microseconds; blocks only for that long. False: the kernel refuses it, and nothing is known.
[[nodiscard]] inline bool all_threads() noexcept {
  sync::hook(sync::step::fence, nullptr);
  return syscall(__NR_membarrier, detail::private_expedited, 0, 0) == 0;
}

/// The same for `publish_fenced`.
inline void this_thread() noexcept {
  sync::hook(sync::step::fence, nullptr);
#if defined(__x86_64__)
  asm volatile("mfence" ::: "memory");
#else
  asm volatile("dmb ish" ::: "memory");
#endif
}

} // namespace cubby::inline v0::detail::barrier
