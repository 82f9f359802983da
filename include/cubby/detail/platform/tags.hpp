// SPDX-License-Identifier: Apache-2.0
// Compares the tags of a line that other threads may be writing (IcebergHT section 3.1): 56 of a byte, or 28 of two. The first word of
// the line has none.
// On x86-64 vector loads read the line, by the widest unit of the processor, which is chosen at run time. Each 8 bytes of such a load
// are read at once, loads are not reordered, and compilers keep them in order, because they are assembly. On AArch64 NEON loads
// and a barrier do the same. ThreadSanitizer and the hooks of tests do not see vector loads, so their builds read words.
#pragma once

#include <bit>
#include <cstdint>

#include <cubby/detail/platform/avx512.hpp>
#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/sync.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <arm_neon.h>
#endif

namespace cubby::inline v0::detail::tags {

inline constexpr unsigned line_words = 7;
/// Tags have one byte or two, so a line has 56 of them or 28.
template <class Tag> inline constexpr unsigned line_tags = line_words * sizeof(std::uint64_t) / sizeof(Tag);
template <class Tag> inline constexpr std::uint64_t all = (std::uint64_t{1} << line_tags<Tag>)-1;

/// A tag in its word of the line.
template <class Tag> inline constexpr unsigned word_tags = sizeof(std::uint64_t) / sizeof(Tag);
template <class Tag> constexpr unsigned word_of(unsigned slot) noexcept { return slot / word_tags<Tag>; }
template <class Tag> constexpr unsigned shift_of(unsigned slot) noexcept {
  return slot % word_tags<Tag> * 8 * sizeof(Tag);
}
template <class Tag> constexpr Tag tag_at(std::uint64_t word, unsigned slot) noexcept {
  return static_cast<Tag>(word >> shift_of<Tag>(slot));
}
template <class Tag> constexpr std::uint64_t with_tag(std::uint64_t word, unsigned slot, Tag tag) noexcept {
  const unsigned shift = shift_of<Tag>(slot);
  return (word & ~(std::uint64_t{static_cast<Tag>(~Tag{0})} << shift)) | std::uint64_t{tag} << shift;
}

/// 1 in each tag of a word.
template <class Tag> inline constexpr std::uint64_t low_bits = ~std::uint64_t{0} / static_cast<Tag>(~Tag{0});
/// The low bit of each tag: whether that tag of the word is `tag`. Exact.
template <class Tag> constexpr std::uint64_t equal_low_bits(std::uint64_t word, Tag tag) noexcept {
  constexpr unsigned high = 8 * sizeof(Tag) - 1;
  constexpr std::uint64_t others = ((std::uint64_t{1} << high) - 1) * low_bits<Tag>;
  const std::uint64_t differ = word ^ (tag * low_bits<Tag>);
  return ~(((differ & others) + others) | differ | others) >> high;
}
/// Bit i: tag i of the word is `tag`. The products move one low bit after the other to the highest bits.
template <class Tag> constexpr std::uint32_t equal_tags(std::uint64_t word, Tag tag) noexcept {
  constexpr std::uint64_t together = sizeof(Tag) == 1 ? 0x0102'0408'1020'4080 : 0x1000'2000'4000'8000;
  return static_cast<std::uint32_t>(equal_low_bits(word, tag) * together >> (64 - word_tags<Tag>));
}
/// How many tags of the word are `tag`. Without std::popcount, which is a call where the processor may lack the instruction.
template <class Tag> constexpr unsigned count_equal(std::uint64_t word, Tag tag) noexcept {
  return static_cast<unsigned>(equal_low_bits(word, tag) * low_bits<Tag> >> (64 - 8 * sizeof(Tag)));
}

/// The tag words behind the line's first word. Bit i of the result: tag i is `tag`.
template <class Tag> std::uint64_t match_words(const sync::word<std::uint64_t>* words, Tag tag) noexcept {
  std::uint64_t out = 0;
  for (unsigned i = 0; i < line_words; ++i) {
    // [tags] acquire: pairs with [show-tag], and with [hide-tag]
    out |= std::uint64_t{equal_tags(words[i].load(sync::acquire), tag)} << (word_tags<Tag> * i);
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

/// SSE2, which each x86-64 processor has. `equal(part)`: all bits of each tag of 16 bytes that agrees.
template <class Equal> CUBBY_ALWAYS_INLINE auto parts_of(const void* line, const Equal& equal) noexcept {
  const auto* const at = static_cast<const char(*)[16]>(line);
  return [at, equal](unsigned i) CUBBY_INLINED {
    __m128i part;
    asm volatile("movdqa %1, %0" : "=x"(part) : "m"(at[i]) : "memory");
    return equal(part);
  };
}
CUBBY_ALWAYS_INLINE std::uint64_t bits_of_bytes(__m128i bytes) noexcept {
  return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
}
CUBBY_ALWAYS_INLINE std::uint64_t match_narrow(const void* line, std::uint8_t tag) noexcept {
  const __m128i wanted = _mm_set1_epi8(static_cast<char>(tag));
  const auto part = parts_of(line, [wanted](__m128i one) CUBBY_INLINED { return _mm_cmpeq_epi8(one, wanted); });
  const std::uint64_t low = bits_of_bytes(part(0)) | bits_of_bytes(part(1)) << 16;
  const std::uint64_t high = bits_of_bytes(part(2)) | bits_of_bytes(part(3)) << 16;
  return low | high << 32;
}
CUBBY_ALWAYS_INLINE std::uint64_t match_narrow(const void* line, std::uint16_t tag) noexcept {
  const __m128i wanted = _mm_set1_epi16(static_cast<short>(tag));
  const auto part = parts_of(line, [wanted](__m128i one) CUBBY_INLINED { return _mm_cmpeq_epi16(one, wanted); });
  const __m128i low = part(0);
  const __m128i next = part(1);
  const __m128i third = part(2);
  return bits_of_bytes(_mm_packs_epi16(low, next)) | bits_of_bytes(_mm_packs_epi16(third, part(3))) << 16;
}
// The others are assembly as a whole, so that they can stand in a function that is compiled for every processor (avx512.hpp).
CUBBY_ALWAYS_INLINE std::uint64_t match_avx512(const void* line, std::uint8_t tag) noexcept {
  std::uint64_t mask;
  [[maybe_unused]] std::uint64_t mask_before;
  asm volatile(CUBBY_AVX512_BEGIN "vpbroadcastb %k[tag], " CUBBY_AVX512_VECTOR
                                  "\n\tvpcmpeqb %[line], " CUBBY_AVX512_VECTOR
                                  ", %%k1\n\tkmovq %%k1, %[mask]" CUBBY_AVX512_END
               : [mask] "=&r"(mask)CUBBY_AVX512_KEPT(mask_before)
               : [line] "m"(*static_cast<const char(*)[64]>(line)), [tag] "r"(std::uint32_t{tag})
               : "memory" CUBBY_AVX512_USED);
  return mask;
}
CUBBY_ALWAYS_INLINE std::uint64_t match_avx512(const void* line, std::uint16_t tag) noexcept {
  std::uint64_t mask;
  [[maybe_unused]] std::uint64_t mask_before;
  asm volatile(CUBBY_AVX512_BEGIN "vpbroadcastw %k[tag], " CUBBY_AVX512_VECTOR
                                  "\n\tvpcmpeqw %[line], " CUBBY_AVX512_VECTOR
                                  ", %%k1\n\tkmovd %%k1, %k[mask]" CUBBY_AVX512_END
               : [mask] "=&r"(mask)CUBBY_AVX512_KEPT(mask_before)
               : [line] "m"(*static_cast<const char(*)[64]>(line)), [tag] "r"(std::uint32_t{tag})
               : "memory" CUBBY_AVX512_USED);
  return mask;
}
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
/// Packing takes eight tags of each half in turn; the permutation puts them in order.
CUBBY_ALWAYS_INLINE std::uint64_t match_avx2(const void* line, std::uint16_t tag) noexcept {
  const auto* const at = static_cast<const char(*)[32]>(line);
  std::uint64_t mask;
  asm volatile("vmovd %k3, %%xmm0\n\tvpbroadcastw %%xmm0, %%ymm0\n\tvpcmpeqw %1, %%ymm0, %%ymm1\n\tvpcmpeqw %2, "
               "%%ymm0, %%ymm0\n\t"
               "vpacksswb %%ymm0, %%ymm1, %%ymm0\n\tvpermq $0xd8, %%ymm0, %%ymm0\n\tvpmovmskb %%ymm0, %k0\n\t"
               "vzeroupper"
               : "=&r"(mask)
               : "m"(at[0]), "m"(at[1]), "r"(std::uint32_t{tag})
               : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                 "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  return mask;
}

} // namespace detail

/// `line` is the whole line, aligned. The tags of its first word are left out.
template <class Tag> CUBBY_ALWAYS_INLINE std::uint64_t match_line(const void* line, Tag tag, unit by) noexcept {
  std::uint64_t all;
  if (by == unit::avx512) [[likely]]
    all = detail::match_avx512(line, tag);
  else all = by == unit::avx2 ? detail::match_avx2(line, tag) : detail::match_narrow(line, tag);
  return all >> word_tags<Tag>; // behind the branches: its flags say whether a tag agrees
}
#else
inline unit widest() noexcept { return cpu::thread_sanitizer || CUBBY_SYNC_HOOKS ? unit::words : unit::narrow; }

namespace detail {

struct line_parts {
  uint8x16_t part[4];
};
CUBBY_ALWAYS_INLINE line_parts load_line(const void* line) noexcept {
  line_parts out;
  asm volatile("ldp %q0, %q1, [%4]\n\tldp %q2, %q3, [%4, #32]\n\tdmb ishld"
               : "=&w"(out.part[0]), "=&w"(out.part[1]), "=&w"(out.part[2]), "=&w"(out.part[3])
               : "r"(line)
               : "memory");
  return out;
}
/// Of 32 bytes that are 0 or 255: the sums of pairs of bits, each in its place of eight. Two more sums of pairs join eight bits.
CUBBY_ALWAYS_INLINE uint8x16_t bits_of_bytes(uint8x16_t low, uint8x16_t high) noexcept {
  const uint8x16_t weights = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  return vpaddq_u8(vandq_u8(low, weights), vandq_u8(high, weights));
}
CUBBY_ALWAYS_INLINE std::uint64_t first_word(uint8x16_t all) noexcept {
  return vgetq_lane_u64(vreinterpretq_u64_u8(all), 0);
}
CUBBY_ALWAYS_INLINE std::uint64_t match_narrow(const void* line, std::uint8_t tag) noexcept {
  const line_parts in = load_line(line);
  const uint8x16_t wanted = vdupq_n_u8(tag);
  const auto equal = [&](unsigned i) { return vceqq_u8(in.part[i], wanted); };
  const uint8x16_t low = bits_of_bytes(equal(0), equal(1));
  const uint8x16_t both = vpaddq_u8(low, bits_of_bytes(equal(2), equal(3)));
  return first_word(vpaddq_u8(both, both));
}
CUBBY_ALWAYS_INLINE std::uint64_t match_narrow(const void* line, std::uint16_t tag) noexcept {
  const line_parts in = load_line(line);
  const uint16x8_t wanted = vdupq_n_u16(tag);
  const auto equal = [&](unsigned i) { return vmovn_u16(vceqq_u16(vreinterpretq_u16_u8(in.part[i]), wanted)); };
  const uint8x16_t low = bits_of_bytes(vcombine_u8(equal(0), equal(1)), vcombine_u8(equal(2), equal(3)));
  const uint8x16_t both = vpaddq_u8(low, low);
  return first_word(vpaddq_u8(both, both)) & 0xffff'ffff;
}

} // namespace detail

template <class Tag> CUBBY_ALWAYS_INLINE std::uint64_t match_line(const void* line, Tag tag, unit) noexcept {
  return detail::match_narrow(line, tag) >> word_tags<Tag>;
}
#endif

/// Bit i: tag i of the line is `tag`. `words` are the tag words, which follow the line's first word.
template <class Tag>
CUBBY_ALWAYS_INLINE std::uint64_t match(const sync::word<std::uint64_t>* words, Tag tag,
                                        unit by = unit::narrow) noexcept {
#if CUBBY_SYNC_HOOKS
  (void)by;
  return match_words(words, tag);
#else
  if constexpr (cpu::thread_sanitizer) return match_words(words, tag);
  return match_line(reinterpret_cast<const std::byte*>(words) - sizeof(std::uint64_t), tag, by);
#endif
}

} // namespace cubby::inline v0::detail::tags
