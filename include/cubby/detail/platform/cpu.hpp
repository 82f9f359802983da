// SPDX-License-Identifier: Apache-2.0
// What the processor must be, said once: a 64-bit little-endian x86-64 or AArch64 with a 16-byte compare-and-swap.
// Everything else fails here with one line instead of later with many.
#pragma once

#include <cstddef>
#include <cstdint>

#if __cplusplus < 202002L
#error "cubby needs C++20: compile with -std=c++20 or newer"
#include <cubby_needs_cxx20> // there is none: the compiler stops here, before a thousand lines hide the one above
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

/// The compiler may take it that this holds.
[[gnu::always_inline]] inline void assume(bool holds) noexcept {
  if (!holds) __builtin_unreachable();
}

/// Between two conditions that lead to the same place: keeps compilers from computing both before they branch once.
[[gnu::always_inline]] inline void part_conditions() noexcept { asm volatile(""); }

/// The number of the lowest bit of a word that is not 0. No question for 0, as std::countr_zero has it.
[[nodiscard, gnu::always_inline]] inline unsigned lowest_bit(std::uint64_t word) noexcept {
  return static_cast<unsigned>(__builtin_ctzll(word));
}

/// Tells a spinning core that it waits: frees the pipeline for its sibling, does not block.
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
[[nodiscard, gnu::always_inline]] constexpr product multiply(std::uint64_t a, std::uint64_t b) noexcept {
#if defined(__x86_64__) && !defined(__clang__)
  // g++ 12 copies both halves of a 128-bit product about: three instructions more
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
