// SPDX-License-Identifier: Apache-2.0
// Compares a text with the one in a slot that other threads may be writing: its bytes, and zeros behind them.
// On x86-64 with AVX-512 a masked load reads the text of the caller, and no byte behind it. One comparison reads the slot: as in tags.hpp, each 8
// bytes of it are read at once and in order.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/tags.hpp>

namespace cubby::inline v0::detail::texts {

/// Whether `fills` can be called on a processor whose widest unit this is, and is fast. The 64 bytes from the beginning of the text on must be in one
/// page. Then the bytes that the load leaves out are in memory; where they are not, it takes ten times as long.
CUBBY_ALWAYS_INLINE bool compares_whole([[maybe_unused]] tags::unit by, [[maybe_unused]] const char* text,
                                        [[maybe_unused]] std::size_t size) noexcept {
#if defined(__x86_64__)
  constexpr std::uintptr_t page = 4096;
  return by == tags::unit::avx512 && size != 0 && reinterpret_cast<std::uintptr_t>(text) % page <= page - 64;
#else
  return false;
#endif
}

/// Whether the first `Bytes` bytes of a slot of 64, the last one apart, are this text and zeros. `size` is less than `Bytes`.
template <std::size_t Bytes>
CUBBY_ALWAYS_INLINE bool fills([[maybe_unused]] const void* slot, [[maybe_unused]] const char* text,
                               [[maybe_unused]] std::size_t size) noexcept {
  static_assert(Bytes > 8 && Bytes <= 64 && Bytes % 8 == 0);
  std::uint64_t equal = 0;
#if defined(__x86_64__)
  const std::uint64_t of_text = (std::uint64_t{1} << size) - 1;
  [[maybe_unused]] std::uint64_t mask_before;
  asm volatile(CUBBY_AVX512_BEGIN
               "kmovq %[of_text], %%k1\n\tvmovdqu8 (%[text]), " CUBBY_AVX512_VECTOR "%{%%k1%}%{z%}\n\t"
               "vpcmpeqb (%[slot]), " CUBBY_AVX512_VECTOR ", %%k1\n\tkmovq %%k1, %[equal]" CUBBY_AVX512_END
               : [equal] "=&r"(equal)CUBBY_AVX512_KEPT(mask_before)
               : [of_text] "r"(of_text), [text] "r"(text), [slot] "r"(slot)
               : "memory" CUBBY_AVX512_USED);
#endif
  constexpr std::uint64_t wanted = (std::uint64_t{1} << (Bytes - 1)) - 1;
  return (~equal & wanted) == 0;
}

} // namespace cubby::inline v0::detail::texts
