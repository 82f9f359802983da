// SPDX-License-Identifier: Apache-2.0
// Reads a bucket of 8-byte slots that other threads may be writing, and compares the upper 16 bits of each (SEPH section 3.2.2). On x86-64
// vector loads read it, by the widest unit of the processor, which is chosen at run time. Each 8 bytes of such a load are read at once, loads
// are not reordered, and compilers keep them in order, because they are assembly. ThreadSanitizer and the hooks of tests do not see vector
// loads, so their builds read words; so does AArch64.
#pragma once

#include <cstdint>

#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/sync.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cubby::inline v0::detail::slots {

/// What a bucket shows, up to its first empty slot or a little beyond it: used slots come before empty ones. Bit i is that of slot i.
struct seen {
  std::uint32_t agree = 0; ///< the upper 16 bits are one of the two that were asked for
  std::uint32_t empty = 0; ///< nothing but the lowest bit is set
  bool marked = false;     ///< the lowest bit of some slot is set
};
/// The upper 16 bits to look for, as numbers.
struct wanted {
  std::uint64_t one;
  std::uint64_t other;
};

template <unsigned Count>
CUBBY_ALWAYS_INLINE seen read_words(const sync::word<std::uint64_t>* bucket, wanted tags) noexcept {
  seen out;
  for (unsigned i = 0; i < Count; ++i) {
    // [slot] acquire: pairs with [put-slot], and with [put-mark]
    const std::uint64_t word = bucket[i].load(sync::acquire);
    const bool agrees = word >> 48 == tags.one || word >> 48 == tags.other;
    out.agree |= std::uint32_t{agrees ? 1U : 0U} << i;
    out.empty |= std::uint32_t{(word & ~std::uint64_t{1}) == 0 ? 1U : 0U} << i;
    out.marked |= (word & 1) != 0;
    if (out.empty != 0) break;
  }
  return out;
}

#if defined(__x86_64__)
enum class unit : std::uint8_t { words, avx2, avx512 };
/// The widest unit of this processor. Call it once and keep the result.
inline unit widest() noexcept {
  if constexpr (cpu::thread_sanitizer || CUBBY_SYNC_HOOKS) return unit::words;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return unit::avx512;
  return __builtin_cpu_supports("avx2") ? unit::avx2 : unit::words;
}

namespace detail {

// Shifts are those of vector types: g++ 12 warns of the intrinsics for them.
using eight_words = unsigned long long __attribute__((vector_size(64)));
[[gnu::noinline, gnu::target("avx512f,avx512dq")]] inline seen read_avx512(const void* bucket, wanted tags) noexcept {
  const auto* const lines = static_cast<const char(*)[64]>(bucket);
  const __m512i one = _mm512_set1_epi64(static_cast<long long>(tags.one));
  const __m512i other = _mm512_set1_epi64(static_cast<long long>(tags.other));
  const __m512i not_mark = _mm512_set1_epi64(~1LL);
  __m512i any = _mm512_setzero_si512();
  seen out;
  for (unsigned i = 0; i < 4; ++i) {
    __m512i part;
    asm volatile("vmovdqu64 %1, %0" : "=v"(part) : "m"(lines[i]) : "memory");
    const auto upper = reinterpret_cast<__m512i>(reinterpret_cast<eight_words>(part) >> 48);
    const unsigned agree = _mm512_cmpeq_epi64_mask(upper, one) | _mm512_cmpeq_epi64_mask(upper, other);
    out.agree |= agree << (8 * i);
    out.empty |= static_cast<std::uint32_t>(_mm512_testn_epi64_mask(part, not_mark)) << (8 * i);
    any |= part;
    if (out.empty != 0) break;
  }
  out.marked = _mm512_test_epi64_mask(any, _mm512_set1_epi64(1)) != 0;
  return out;
}
[[gnu::noinline, gnu::target("avx2")]] inline seen read_avx2(const void* bucket, wanted tags) noexcept {
  const auto* const parts = static_cast<const char(*)[32]>(bucket);
  const __m256i one = _mm256_set1_epi64x(static_cast<long long>(tags.one));
  const __m256i other = _mm256_set1_epi64x(static_cast<long long>(tags.other));
  __m256i any = _mm256_setzero_si256();
  seen out;
  const auto bits = [](__m256i equal) __attribute__((target("avx2"), always_inline)) {
    return static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)));
  };
  for (unsigned i = 0; i < 8; ++i) {
    __m256i part;
    asm volatile("vmovdqu %1, %0" : "=x"(part) : "m"(parts[i]) : "memory");
    const __m256i upper = _mm256_srli_epi64(part, 48);
    out.agree |= bits(_mm256_or_si256(_mm256_cmpeq_epi64(upper, one), _mm256_cmpeq_epi64(upper, other))) << (4 * i);
    out.empty |= bits(_mm256_cmpeq_epi64(_mm256_srli_epi64(part, 1), _mm256_setzero_si256())) << (4 * i);
    any = _mm256_or_si256(any, part);
    if (out.empty != 0) break;
  }
  out.marked = bits(_mm256_slli_epi64(any, 63)) != 0;
  return out;
}

} // namespace detail

/// Reads a bucket of 32 slots, or of fewer by words.
template <unsigned Count>
CUBBY_ALWAYS_INLINE seen read(const sync::word<std::uint64_t>* bucket, wanted tags, unit by) noexcept {
  if constexpr (Count == 32 && !cpu::thread_sanitizer && !CUBBY_SYNC_HOOKS) {
    if (by == unit::avx512) [[likely]]
      return detail::read_avx512(bucket, tags);
    if (by == unit::avx2) return detail::read_avx2(bucket, tags);
  }
  return read_words<Count>(bucket, tags);
}
#else
enum class unit : std::uint8_t { words };
inline unit widest() noexcept { return unit::words; }
template <unsigned Count>
CUBBY_ALWAYS_INLINE seen read(const sync::word<std::uint64_t>* bucket, wanted tags, unit) noexcept {
  return read_words<Count>(bucket, tags);
}
#endif

} // namespace cubby::inline v0::detail::slots
