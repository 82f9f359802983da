// SPDX-License-Identifier: Apache-2.0
// Compares the four key words of a 64-byte line of slots by a few vector instructions (DRAMHiT section 3.4). A scalar function gives
// the same answers. The choice is made at run time, so that one binary runs on each processor. Vector loads are not atomic: use
// them only while no other thread writes to the line. ThreadSanitizer does not see them, so its builds use the scalar function.
#pragma once

#include <cstdint>

#include <cubby/detail/platform/cpu.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <arm_neon.h>
#endif

namespace cubby::inline v0::detail::simd {

/// Bit i of `equal`: the key word of slot i is the wanted one. Bit i of `zero`: it is 0.
struct line_match {
  std::uint32_t equal = 0;
  std::uint32_t zero = 0;
  bool operator==(const line_match&) const = default;
};

/// `line` is aligned to 64 bytes, and has four slots, each a key word before a value word.
using match_function = line_match (*)(const void* line, std::uint64_t word) noexcept;

enum class unit : std::uint8_t { scalar, neon, avx2, avx512 };
inline constexpr unit every_unit[] = {unit::scalar, unit::neon, unit::avx2, unit::avx512};

inline line_match match_scalar(const void* line, std::uint64_t word) noexcept {
  const auto* const words = static_cast<const std::uint64_t*>(line);
  line_match out;
  for (unsigned i = 0; i < 4; ++i) {
    out.equal |= static_cast<std::uint32_t>(words[2 * i] == word) << i;
    out.zero |= static_cast<std::uint32_t>(words[2 * i] == 0) << i;
  }
  return out;
}

#if defined(__x86_64__)
namespace detail {
/// Bits 0, 2, 4 and 6 as a number of four bits: those of the key words among eight words.
constexpr std::uint32_t even_bits(std::uint32_t mask) noexcept {
  return (mask & 1) | (mask >> 1 & 2) | (mask >> 2 & 4) | (mask >> 3 & 8);
}
} // namespace detail

[[gnu::target("avx2")]] inline line_match match_avx2(const void* line, std::uint64_t word) noexcept {
  const auto* const halves = static_cast<const __m256i*>(line);
  const __m256i mixed = _mm256_unpacklo_epi64(_mm256_load_si256(halves), _mm256_load_si256(halves + 1)); // 0, 2, 1, 3
  const __m256i keys = _mm256_permute4x64_epi64(mixed, 0xd8);
  const __m256i equal = _mm256_cmpeq_epi64(keys, _mm256_set1_epi64x(static_cast<long long>(word)));
  const __m256i zero = _mm256_cmpeq_epi64(keys, _mm256_setzero_si256());
  return {static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(equal))),
          static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(zero)))};
}
[[gnu::target("avx512f")]] inline line_match match_avx512(const void* line, std::uint64_t word) noexcept {
  const __m512i words = _mm512_load_si512(line);
  const __mmask8 equal = _mm512_cmpeq_epu64_mask(words, _mm512_set1_epi64(static_cast<long long>(word)));
  const __mmask8 zero = _mm512_cmpeq_epu64_mask(words, _mm512_setzero_si512());
  return {detail::even_bits(equal), detail::even_bits(zero)};
}
#else
inline line_match match_neon(const void* line, std::uint64_t word) noexcept {
  const auto* const words = static_cast<const std::uint64_t*>(line);
  const uint64x2_t low = vld2q_u64(words).val[0];
  const uint64x2_t high = vld2q_u64(words + 4).val[0];
  const auto bits = [](uint64x2_t first, uint64x2_t second) {
    return static_cast<std::uint32_t>((vgetq_lane_u64(first, 0) & 1) | (vgetq_lane_u64(first, 1) & 2) |
                                      (vgetq_lane_u64(second, 0) & 4) | (vgetq_lane_u64(second, 1) & 8));
  };
  const uint64x2_t asked = vdupq_n_u64(word);
  return {bits(vceqq_u64(low, asked), vceqq_u64(high, asked)), bits(vceqzq_u64(low), vceqzq_u64(high))};
}
#endif

/// The function of one vector unit; null if this processor has no such unit.
inline match_function matcher(unit of) noexcept {
  if (of == unit::scalar) return &match_scalar;
#if defined(__x86_64__)
  if (of == unit::avx2 && __builtin_cpu_supports("avx2")) return &match_avx2;
  if (of == unit::avx512 && __builtin_cpu_supports("avx512f")) return &match_avx512;
#else
  if (of == unit::neon) return &match_neon;
#endif
  return nullptr;
}

/// The function of the widest unit of this processor. Call it once and keep the result.
inline match_function widest_matcher() noexcept {
  match_function found = &match_scalar;
  if constexpr (cpu::thread_sanitizer) return found;
  for (const unit one : every_unit)
    if (const match_function has = matcher(one)) found = has;
  return found;
}

} // namespace cubby::inline v0::detail::simd
