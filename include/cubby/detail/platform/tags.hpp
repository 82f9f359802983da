// SPDX-License-Identifier: Apache-2.0
// Compares the 56 tags of a line that other threads may be writing (IcebergHT section 3.1). The first word of the line is not a tag.
// On x86-64 vector loads read the line, by the widest unit of the processor, which is chosen at run time. Each 8 bytes of such a load
// are read at once, loads are not reordered, and compilers keep them in order, because they are assembly. On AArch64 NEON loads
// and a barrier do the same. ThreadSanitizer and the hooks of tests do not see vector loads, so their builds read words.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/sync.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <arm_neon.h>
#endif

namespace cubby::inline v0::detail::tags {

inline constexpr unsigned line_words = 7;
inline constexpr unsigned line_tags = 56;
inline constexpr std::uint64_t all = (std::uint64_t{1} << line_tags) - 1;

inline constexpr std::uint64_t low_bits = 0x0101'0101'0101'0101;
/// The low bit of each byte: whether that byte of the word is `byte`. Exact.
constexpr std::uint64_t equal_low_bits(std::uint64_t word, std::uint8_t byte) noexcept {
  constexpr std::uint64_t low7 = 0x7f * low_bits;
  const std::uint64_t differ = word ^ (byte * low_bits);
  return ~(((differ & low7) + low7) | differ | low7) >> 7;
}
/// Bit i: byte i of the word is `byte`.
constexpr std::uint32_t equal_bytes(std::uint64_t word, std::uint8_t byte) noexcept {
  return static_cast<std::uint32_t>(equal_low_bits(word, byte) * std::uint64_t{0x0102'0408'1020'4080} >> 56);
}
/// How many bytes of the word are `byte`. Without std::popcount, which is a call where the processor may lack the instruction.
constexpr unsigned count_equal(std::uint64_t word, std::uint8_t byte) noexcept {
  return static_cast<unsigned>(equal_low_bits(word, byte) * low_bits >> 56);
}

/// In the tag of an entry that is not in a slot near the one that its hash prefers.
inline constexpr std::uint8_t far = 0x80;
/// How many slots are near to one.
inline constexpr unsigned near_slots = 4;
/// The bit `far` in as many bytes, and no bit in those before and behind. `from(first)`: 64 bytes that belong to a line in which the slots
/// from `first` on are near.
struct near_bytes {
  alignas(128) unsigned char all[128] = {}; // no reading of 64 bytes crosses a page
  constexpr near_bytes() noexcept {
    for (unsigned i = 0; i < near_slots; ++i) all[64 + i] = far;
  }
  [[nodiscard]] CUBBY_ALWAYS_INLINE const unsigned char* from(unsigned first) const noexcept {
    return all + (64 - sizeof(std::uint64_t)) - first;
  }
};
inline constexpr near_bytes near_line{};

/// The tag words behind the line's first word. Bit i of the result: tag i is `tag`. `near`: bytes in which it differs, or null.
inline std::uint64_t match_words(const sync::word<std::uint64_t>* words, std::uint8_t tag,
                                 const unsigned char* near = nullptr) noexcept {
  std::uint64_t out = 0;
  for (unsigned i = 0; i < line_words; ++i) {
    std::uint64_t differ = 0;
    if (near != nullptr) std::memcpy(&differ, near + (i + 1) * sizeof differ, sizeof differ);
    // [tags] acquire: pairs with [show-tag], and with [hide-tag]
    out |= std::uint64_t{equal_bytes(words[i].load(sync::acquire) ^ differ, tag)} << (8 * i);
  }
  return out;
}

/// What reads a line. The wider, the fewer instructions wait for the line, so that the processor begins more lookups meanwhile.
enum class unit : std::uint8_t { words, narrow, avx2, avx512 };

#if defined(__x86_64__)
/// The widest unit of this processor. Call it once and keep the result.
inline unit widest() noexcept {
  if constexpr (cpu::thread_sanitizer || CUBBY_SYNC_HOOKS) return unit::words;
  if (__builtin_cpu_supports("avx512bw")) return unit::avx512;
  if (__builtin_cpu_supports("avx2")) return unit::avx2;
  return unit::narrow;
}

namespace detail {

/// SSE2, which each x86-64 processor has. `wanted(i)`: what 16 bytes of the line are compared with.
template <class Wanted>
CUBBY_ALWAYS_INLINE std::uint64_t match_narrow(const void* line, const Wanted& wanted) noexcept {
  const auto* const at = static_cast<const char(*)[16]>(line);
  const auto bits = [&](unsigned i) CUBBY_INLINED {
    __m128i part;
    asm volatile("movdqa %1, %0" : "=x"(part) : "m"(at[i]) : "memory");
    return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(part, wanted(i))))};
  };
  const std::uint64_t low = bits(0) | bits(1) << 16;
  const std::uint64_t high = bits(2) | bits(3) << 16;
  return low | high << 32;
}
CUBBY_ALWAYS_INLINE std::uint64_t match_narrow(const void* line, std::uint8_t tag) noexcept {
  const __m128i wanted = _mm_set1_epi8(static_cast<char>(tag));
  return match_narrow(line, [&](unsigned) CUBBY_INLINED { return wanted; });
}
CUBBY_ALWAYS_INLINE std::uint64_t match_near_narrow(const void* line, std::uint8_t tag,
                                                    const unsigned char* near) noexcept {
  const __m128i wanted = _mm_set1_epi8(static_cast<char>(tag));
  return match_narrow(line, [&](unsigned i) CUBBY_INLINED {
    return _mm_xor_si128(wanted, _mm_loadu_si128(reinterpret_cast<const __m128i*>(near) + i));
  });
}
// The others are assembly as a whole, so that they can stand in a function that is compiled for every processor. The registers from
// zmm16 on cost later SSE instructions nothing. Only a compiler that may use them knows their names.
#if defined(__AVX512F__)
#define CUBBY_AVX512_CLOBBERS , "xmm16", "k1"
#else
#define CUBBY_AVX512_CLOBBERS
#endif
CUBBY_ALWAYS_INLINE std::uint64_t match_avx512(const void* line, std::uint8_t tag) noexcept {
  std::uint64_t mask;
  asm volatile("vpbroadcastb %k2, %%zmm16\n\tvpcmpeqb %1, %%zmm16, %%k1\n\tkmovq %%k1, %0"
               : "=r"(mask)
               : "m"(*static_cast<const char(*)[64]>(line)), "r"(std::uint32_t{tag})
               : "memory" CUBBY_AVX512_CLOBBERS);
  return mask;
}
/// The same for tags that differ by bits of `near`.
CUBBY_ALWAYS_INLINE std::uint64_t match_near_avx512(const void* line, std::uint8_t tag,
                                                    const unsigned char* near) noexcept {
  std::uint64_t mask;
  asm volatile("vpbroadcastb %k3, %%zmm16\n\tvpxorq %2, %%zmm16, %%zmm16\n\tvpcmpeqb %1, %%zmm16, %%k1\n\t"
               "kmovq %%k1, %0"
               : "=r"(mask)
               : "m"(*static_cast<const char(*)[64]>(line)), "m"(*reinterpret_cast<const char(*)[64]>(near)),
                 "r"(std::uint32_t{tag})
               : "memory" CUBBY_AVX512_CLOBBERS);
  return mask;
}
#undef CUBBY_AVX512_CLOBBERS
CUBBY_ALWAYS_INLINE std::uint64_t match_avx2(const void* line, std::uint8_t tag) noexcept {
  const auto* const at = static_cast<const char(*)[32]>(line);
  std::uint64_t low;
  std::uint64_t high;
  asm volatile("vmovd %k4, %%xmm0\n\tvpbroadcastb %%xmm0, %%ymm0\n\tvpcmpeqb %2, %%ymm0, %%ymm1\n\tvpcmpeqb %3, "
               "%%ymm0, %%ymm0\n\t"
               "vpmovmskb %%ymm1, %k0\n\tvpmovmskb %%ymm0, %k1\n\tvzeroupper"
               : "=&r"(low), "=&r"(high)
               : "m"(at[0]), "m"(at[1]), "r"(std::uint32_t{tag})
               : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                 "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  return low | high << 32;
}
CUBBY_ALWAYS_INLINE std::uint64_t match_near_avx2(const void* line, std::uint8_t tag,
                                                  const unsigned char* near) noexcept {
  const auto* const at = static_cast<const char(*)[32]>(line);
  const auto* const differ = reinterpret_cast<const char(*)[32]>(near);
  std::uint64_t low;
  std::uint64_t high;
  asm volatile("vmovd %k6, %%xmm0\n\tvpbroadcastb %%xmm0, %%ymm0\n\tvpxor %4, %%ymm0, %%ymm1\n\t"
               "vpxor %5, %%ymm0, %%ymm0\n\tvpcmpeqb %2, %%ymm1, %%ymm1\n\tvpcmpeqb %3, %%ymm0, %%ymm0\n\t"
               "vpmovmskb %%ymm1, %k0\n\tvpmovmskb %%ymm0, %k1\n\tvzeroupper"
               : "=&r"(low), "=&r"(high)
               : "m"(at[0]), "m"(at[1]), "m"(differ[0]), "m"(differ[1]), "r"(std::uint32_t{tag})
               : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                 "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  return low | high << 32;
}

} // namespace detail

/// `line` is the whole line, aligned.
CUBBY_ALWAYS_INLINE std::uint64_t match_line(const void* line, std::uint8_t tag, unit by) noexcept {
  if (by == unit::avx512) [[likely]]
    return detail::match_avx512(line, tag) >> 8;
  return (by == unit::avx2 ? detail::match_avx2(line, tag) : detail::match_narrow(line, tag)) >> 8;
}
CUBBY_ALWAYS_INLINE std::uint64_t match_near_line(const void* line, std::uint8_t tag, const unsigned char* near,
                                                  unit by) noexcept {
  if (by == unit::avx512) [[likely]]
    return detail::match_near_avx512(line, tag, near) >> 8;
  return (by == unit::avx2 ? detail::match_near_avx2(line, tag, near) : detail::match_near_narrow(line, tag, near)) >>
         8;
}
#else
inline unit widest() noexcept { return cpu::thread_sanitizer || CUBBY_SYNC_HOOKS ? unit::words : unit::narrow; }

/// `wanted(i)`: what 16 bytes of the line are compared with.
template <class Wanted> CUBBY_ALWAYS_INLINE std::uint64_t match_parts(const void* line, const Wanted& wanted) noexcept {
  const auto* const at = static_cast<const std::uint8_t*>(line);
  uint8x16_t part[4];
  asm volatile("ldp %q0, %q1, [%4]\n\tldp %q2, %q3, [%4, #32]\n\tdmb ishld"
               : "=&w"(part[0]), "=&w"(part[1]), "=&w"(part[2]), "=&w"(part[3])
               : "r"(at)
               : "memory");
  const uint8x16_t weights = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const auto bits = [&](unsigned i) { return vandq_u8(vceqq_u8(part[i], wanted(i)), weights); };
  const uint8x16_t low = vpaddq_u8(bits(0), bits(1));
  const uint8x16_t high = vpaddq_u8(bits(2), bits(3));
  const uint8x16_t both = vpaddq_u8(low, high);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(both, both)), 0) >> 8;
}
CUBBY_ALWAYS_INLINE std::uint64_t match_line(const void* line, std::uint8_t tag, unit) noexcept {
  return match_parts(line, [&](unsigned) { return vdupq_n_u8(tag); });
}
CUBBY_ALWAYS_INLINE std::uint64_t match_near_line(const void* line, std::uint8_t tag, const unsigned char* near,
                                                  unit) noexcept {
  return match_parts(line, [&](unsigned i) { return veorq_u8(vdupq_n_u8(tag), vld1q_u8(near + 16 * i)); });
}
#endif

/// Bit i: tag i of the line is `tag`. `words` are the tag words, which follow the line's first word.
CUBBY_ALWAYS_INLINE std::uint64_t match(const sync::word<std::uint64_t>* words, std::uint8_t tag,
                                        unit by = unit::narrow) noexcept {
#if CUBBY_SYNC_HOOKS
  (void)by;
  return match_words(words, tag);
#else
  if constexpr (cpu::thread_sanitizer) return match_words(words, tag);
  return match_line(reinterpret_cast<const std::byte*>(words) - sizeof(std::uint64_t), tag, by);
#endif
}

/// Bit i: tag i of the line is `tag` if slot i is one of the four from `first` on, and `tag | far` if not.
CUBBY_ALWAYS_INLINE std::uint64_t match_near(const sync::word<std::uint64_t>* words, std::uint8_t tag, unsigned first,
                                             unit by = unit::narrow) noexcept {
  const auto far_tag = static_cast<std::uint8_t>(tag | far);
  const unsigned char* const near = near_line.from(first);
#if CUBBY_SYNC_HOOKS
  (void)by;
  return match_words(words, far_tag, near);
#else
  if constexpr (cpu::thread_sanitizer) return match_words(words, far_tag, near);
  return match_near_line(reinterpret_cast<const std::byte*>(words) - sizeof(std::uint64_t), far_tag, near, by);
#endif
}

} // namespace cubby::inline v0::detail::tags
