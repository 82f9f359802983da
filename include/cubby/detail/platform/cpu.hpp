// SPDX-License-Identifier: Apache-2.0
// The processors that the library supports: 64-bit little-endian x86-64 or AArch64 with a 16-byte compare-and-swap. On any other
// one the compilation ends here, with one line.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/platform/inlining.hpp>

#if !defined(CUBBY_SYNC_HOOKS) // 1: tests are called before each step (platform/sync.hpp)
#define CUBBY_SYNC_HOOKS 0
#endif

#if __cplusplus < 202002L
#error "cubby needs C++20: compile with -std=c++20 or newer"
#include <cubby_needs_cxx20> // no such file: the compiler stops here, so that no further errors hide the one above
#endif
#if !defined(__x86_64__) && !defined(__aarch64__)
#error "cubby needs x86-64 or AArch64: its tables rest on a 16-byte compare-and-swap"
#endif
#if !defined(__linux__)
#error "cubby needs Linux: memory, membarrier and futex-free waits are only written for it"
#endif
#if !defined(__GNUC__)
#error "cubby needs g++ 12 or clang++ 15 or newer"
#endif
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "cubby needs a little-endian processor: packed words are laid out for it"
#endif

namespace cubby::inline v0::detail::cpu {

/// The unit of transfer between memory and cache, in bytes.
inline constexpr std::size_t cache_line = 64;

#if defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitizer = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool thread_sanitizer = true;
#else
inline constexpr bool thread_sanitizer = false;
#endif
#else
inline constexpr bool thread_sanitizer = false;
#endif

#if CUBBY_SYNC_HOOKS
/// For tests: whether to work as on a processor of the other kind (`drops_prefetches`). Set it while no other thread uses a table.
inline bool& as_the_other_kind() noexcept {
  static bool other = false;
  return other;
}
#endif
/// Whether this processor drops prefetches while many lines are on their way, as AMD's do (docs/performance/calls.md, Prefetches that are
/// dropped). In a constructor that runs before those of the compiler's library it may be false: only the pace depends on it.
[[nodiscard]] CUBBY_ALWAYS_INLINE bool drops_prefetches() noexcept {
#if defined(__x86_64__)
  const bool drops = __builtin_cpu_is("amd") != 0;
#else
  const bool drops = false;
#endif
#if CUBBY_SYNC_HOOKS
  return drops != as_the_other_kind();
#else
  return drops;
#endif
}

/// Tells the compiler that the condition holds.
CUBBY_ALWAYS_INLINE void assume(bool holds) noexcept {
  if (!holds) __builtin_unreachable();
}

/// To be put between two conditions with the same target: keeps compilers from computing both before a single branch.
CUBBY_ALWAYS_INLINE void part_conditions() noexcept { asm volatile(""); }

/// The number of the lowest set bit of a word, which must not be 0. It has no check for 0, unlike std::countr_zero.
[[nodiscard]] CUBBY_ALWAYS_INLINE unsigned lowest_bit(std::uint64_t word) noexcept {
  return static_cast<unsigned>(__builtin_ctzll(word));
}
/// The same as an index. g++ clears the register before __builtin_ctzll, and extends the sign of the number behind it. The first would matter on Intel
/// processors before Skylake, where the instruction waits for the old value of its register.
[[nodiscard]] CUBBY_ALWAYS_INLINE std::size_t lowest_index(std::uint64_t word) noexcept {
#if defined(__x86_64__) && !defined(__clang__)
  std::size_t number;
  asm("rep bsf %1, %0" : "=r"(number) : "r"(word) : "cc");
  return number;
#else
  return lowest_bit(word);
#endif
}

/// The number of the highest set bit of a word, which must not be 0.
[[nodiscard]] CUBBY_ALWAYS_INLINE unsigned highest_bit(std::uint64_t word) noexcept {
  return 63 ^ static_cast<unsigned>(__builtin_clzll(word));
}

/// A hint to the core in a spin loop, which frees the pipeline for the other hardware thread. Does not block.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("yield" ::: "memory");
#endif
}

/// The high and the low half of a * b.
struct product {
  std::uint64_t high;
  std::uint64_t low;
};
[[nodiscard]] CUBBY_ALWAYS_INLINE constexpr product multiply(std::uint64_t a, std::uint64_t b) noexcept {
#if defined(__x86_64__) && !defined(__clang__)
  // g++ 12 needs three more instructions for a 128-bit product
  if (!__builtin_is_constant_evaluated() && !(__builtin_constant_p(a) && __builtin_constant_p(b))) {
    std::uint64_t high = 0;
    std::uint64_t low = a;
    asm("mulq %[b]" : "+&a"(low), "=&d"(high) : [b] "rm"(b) : "cc");
    return {high, low};
  }
#endif
  __extension__ using wide = unsigned __int128;
  const wide all = static_cast<wide>(a) * b;
  return {static_cast<std::uint64_t>(all >> 64), static_cast<std::uint64_t>(all)};
}

/// a * 2^64 / b, rounded up, modulo 2^64; a <= b.
[[nodiscard]] constexpr std::uint64_t divide_high(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>(((static_cast<wide>(a) << 64) + b - 1) / b);
}

} // namespace cubby::inline v0::detail::cpu
