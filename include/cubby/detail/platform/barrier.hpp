// SPDX-License-Identifier: Apache-2.0
// A reader needs a store-load fence between its announcement and its reads. Where the kernel has membarrier, the thread that frees
// memory pays for it, which is rare: `publish` is a plain store, and `all_threads` makes all running threads execute a fence.
// Elsewhere `publish_fenced` contains the fence, and `this_thread` is a fence of the caller. Each domain (core/domain.hpp) uses one
// of the two ways.
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

/// Whether new domains use `publish`, the plain store.
inline bool is_asymmetric() noexcept { return detail::asymmetric(); }

/// Makes readers execute fences, as on kernels without membarrier. Call it before any table exists.
inline void disable_membarrier() noexcept { detail::asymmetric() = false; }

/// Stores `value`. If an `all_threads` of another thread misses the store, the caller's later loads see all that precedes that call.
CUBBY_ALWAYS_INLINE void publish(sync::word<std::uint64_t>& at, std::uint64_t value) noexcept {
  at.store(value, sync::release);
  asm volatile("" ::: "memory");
}
/// The same for a `this_thread` of another thread that misses the store.
CUBBY_ALWAYS_INLINE void publish_fenced(sync::word<std::uint64_t>& at, std::uint64_t value) noexcept {
  (void)at.exchange(value, sync::seq_cst);
#if defined(__aarch64__)
  sync::hook(sync::step::fence, nullptr);
  asm volatile("dmb ish" ::: "memory");
#endif
}

/// A barrier of all threads: if a `publish` is not visible after it, the later loads of its thread see all that precedes this call. It
/// blocks for a system call of some microseconds. False: the kernel has refused it, and nothing is guaranteed.
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
