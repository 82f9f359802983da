// SPDX-License-Identifier: Apache-2.0
// Reads a part of a bucket of 8-byte slots that other threads may be writing, and compares the upper 16 bits of each (SEPH section 3.2.2). A bucket
// has four parts, or as many as it has slots if these are fewer. A part of eight slots is a line. On x86-64 vector loads read it, by the
// widest unit of the processor, which is chosen at run time. Each 8 bytes of such a load are read at once, loads are not reordered, and
// compilers keep them in order, because they are assembly. ThreadSanitizer and the hooks of tests do not see vector loads, so their builds
// read words; so does AArch64. What goes into a function here and what comes out is in registers: structures of smaller members were written
// and read back through memory, at 10 ns a call.
#pragma once

#include <cstdint>

#include <cubby/detail/platform/avx512.hpp>
#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/sync.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cubby::inline v0::detail::slots {

/// The parts of a bucket.
template <unsigned Count> inline constexpr unsigned parts = Count < 4 ? Count : 4;
template <unsigned Count> inline constexpr unsigned slots_a_part = Count / parts<Count>;
inline constexpr unsigned most_a_part = 8; // a line

/// What a part shows: three times 8 bits, of which bit i is that of slot i.
class seen {
public:
  constexpr seen(unsigned agree, unsigned empty, unsigned marked) noexcept : bits_(agree | empty << 8 | marked << 16) {}
  /// The upper 16 bits are one of the two that were asked for. Those of an empty slot are 0.
  [[nodiscard]] constexpr unsigned agree() const noexcept { return bits_ & 0xff; }
  /// Nothing but the lowest bit is set.
  [[nodiscard]] constexpr unsigned empty() const noexcept { return bits_ >> 8 & 0xff; }
  /// The lowest bit of some slot is set.
  [[nodiscard]] constexpr bool marked() const noexcept { return bits_ >> 16 != 0; }

private:
  std::uint32_t bits_;
};
/// What a part of each of two buckets shows.
struct seen_two {
  static constexpr unsigned bits_a_slot = 4;
  // Bit 4 i + 3 is that of slot i, as in `seen`; those of the second part come behind the first one's. Others are 0.
  std::uint64_t agree;
  std::uint32_t others; // eight bits for the used slots of each part, and then for marks

  /// The slot of a bit of `agree`.
  static constexpr unsigned slot_of(unsigned bit) noexcept { return bit / bits_a_slot; }
  /// The empty slots of the first part (0), or of the second one (1).
  [[nodiscard]] constexpr unsigned empty(unsigned which) const noexcept {
    return ~others >> (which * most_a_part) & 0xff;
  }
  [[nodiscard]] constexpr bool marked() const noexcept { return others >> (2 * most_a_part) != 0; }
};
/// What the parts of a bucket behind that with which a key begins show, in the order of the key: bit i is that of slot i behind its first one.
class seen_rest {
public:
  constexpr seen_rest(std::uint32_t agree, unsigned marked) noexcept : bits_(agree | std::uint64_t{marked} << 32) {}
  [[nodiscard]] constexpr std::uint32_t agree() const noexcept { return static_cast<std::uint32_t>(bits_); }
  [[nodiscard]] constexpr bool marked() const noexcept { return bits_ >> 32 != 0; }

private:
  std::uint64_t bits_;
};
/// The upper 16 bits to look for: the lower 16 of either number. What is above these does not count, so that nobody has to clear it.
struct wanted {
  std::uint32_t first;
  std::uint32_t second;
  [[nodiscard]] constexpr std::uint64_t one() const noexcept { return first & 0xffffU; }
  [[nodiscard]] constexpr std::uint64_t other() const noexcept { return second & 0xffffU; }
};

template <unsigned Slots> CUBBY_ALWAYS_INLINE seen read_words(const sync::word<std::uint64_t>* part,
                                                              wanted tags) noexcept {
  unsigned agree = 0;
  unsigned empty = 0;
  unsigned marked = 0;
  for (unsigned i = 0; i < Slots; ++i) {
    // [slot] acquire: pairs with [put-slot], and with [put-mark]
    const std::uint64_t word = part[i].load(sync::acquire);
    agree |= (word >> 48 == tags.one() || word >> 48 == tags.other() ? 1U : 0U) << i;
    empty |= ((word & ~std::uint64_t{1}) == 0 ? 1U : 0U) << i;
    marked |= static_cast<unsigned>(word & 1) << i;
  }
  return {agree, empty, marked};
}

/// Reads a part of each of two buckets.
template <unsigned Slots>
CUBBY_ALWAYS_INLINE seen_two two_by_words(const sync::word<std::uint64_t>* first, wanted in_first,
                                          const sync::word<std::uint64_t>* second, wanted in_second) noexcept {
  const seen parts[2] = {read_words<Slots>(first, in_first), read_words<Slots>(second, in_second)};
  seen_two out{0, 0};
  for (unsigned i = 0; i < 2 * most_a_part; ++i) {
    const seen& part = parts[i / most_a_part];
    const unsigned bit = i % most_a_part;
    out.agree |= std::uint64_t{part.agree() >> bit & 1} << (seen_two::bits_a_slot * (i + 1) - 1);
    out.others |= (~part.empty() >> bit & 1) << i; // slots that a small part does not have are not empty
  }
  if (parts[0].marked() || parts[1].marked()) out.others |= 1U << (2 * most_a_part);
  return out;
}
/// Reads what is behind the part `begin` of a bucket.
template <unsigned Count> CUBBY_ALWAYS_INLINE seen_rest rest_by_words(const sync::word<std::uint64_t>* bucket,
                                                                      unsigned begin, wanted tags) noexcept {
  constexpr unsigned size = slots_a_part<Count>;
  std::uint32_t agree = 0;
  unsigned marked = 0;
  for (unsigned i = 1; i < parts<Count>; ++i) {
    const seen part = read_words<size>(bucket + (begin + i) % parts<Count> * size, tags);
    agree |= part.agree() << (i * size);
    marked |= part.marked() ? 1U : 0U;
  }
  return {agree, marked};
}

#if defined(__x86_64__)
enum class unit : std::uint8_t { words, avx2, avx512 };
/// The widest unit of this processor. Call it once and keep the result.
inline unit widest() noexcept {
  if constexpr (cpu::thread_sanitizer || CUBBY_SYNC_HOOKS) return unit::words;
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) return unit::avx512;
  return __builtin_cpu_supports("avx2") ? unit::avx2 : unit::words;
}

namespace detail {

// Shifts are those of vector types: g++ 12 warns of the intrinsics for them.
using eight_words = unsigned long long __attribute__((vector_size(64)));
[[gnu::always_inline, gnu::target("avx512f,avx512dq")]] inline __m512i load_avx512(const void* line) noexcept {
  __m512i part;
  asm volatile("vmovdqu64 %1, %0" : "=v"(part) : "m"(*static_cast<const char(*)[64]>(line)) : "memory");
  return part;
}
/// Slots whose upper 16 bits are one of the two.
[[gnu::always_inline, gnu::target("avx512f,avx512dq")]] inline __mmask8 agree_avx512(__m512i part, std::uint64_t one,
                                                                                     std::uint64_t other) noexcept {
  const auto upper = reinterpret_cast<__m512i>(reinterpret_cast<eight_words>(part) >> 48);
  return _kor_mask8(_mm512_cmpeq_epi64_mask(upper, _mm512_set1_epi64(static_cast<long long>(one))),
                    _mm512_cmpeq_epi64_mask(upper, _mm512_set1_epi64(static_cast<long long>(other))));
}
[[gnu::noinline, gnu::target("avx512f,avx512dq")]] inline seen read_avx512(const void* line, std::uint64_t one,
                                                                           std::uint64_t other) noexcept {
  const __m512i part = load_avx512(line);
  return {agree_avx512(part, one, other), _mm512_testn_epi64_mask(part, _mm512_set1_epi64(~1LL)),
          _mm512_test_epi64_mask(part, _mm512_set1_epi64(1))};
}
// Assembly as a whole, so that clang inlines it, and g++ where it compiles for AVX-512 (avx512.hpp). Each lookup does this. All words of 16 bits are
// compared, and the upper ones of slots count.
inline constexpr std::uint64_t all_but_mark = ~std::uint64_t{1};
inline constexpr std::uint64_t mark_alone = 1;
inline constexpr std::uint64_t upper_words = 0x8888888888888888;
CUBBY_AVX512_FUNCTION seen_two two_avx512(const void* first, wanted in_first, const void* second,
                                          wanted in_second) noexcept {
  seen_two out;
  asm volatile(
      "vmovdqu64 %[first], %%zmm16\n\tvmovdqu64 %[second], %%zmm17\n\t"
      "vpbroadcastw %k[one], %%zmm18\n\tvpbroadcastw %k[other], %%zmm19\n\t"
      "vpcmpeqw %%zmm16, %%zmm18, %%k1\n\tvpcmpeqw %%zmm16, %%zmm19, %%k2\n\tkord %%k1, %%k2, %%k1\n\t"
      "vpbroadcastw %k[one_there], %%zmm18\n\tvpbroadcastw %k[other_there], %%zmm19\n\t"
      "vpcmpeqw %%zmm17, %%zmm18, %%k2\n\tvpcmpeqw %%zmm17, %%zmm19, %%k3\n\tkord %%k2, %%k3, %%k2\n\t"
      "kunpckdq %%k1, %%k2, %%k1\n\tkmovq %%k1, %[agree]\n\t"
      "vptestmq %[used]%{1to8%}, %%zmm16, %%k1\n\tvptestmq %[used]%{1to8%}, %%zmm17, %%k2\n\t"
      "kunpckbw %%k1, %%k2, %%k1\n\t"
      "vporq %%zmm16, %%zmm17, %%zmm16\n\tvptestmq %[mark]%{1to8%}, %%zmm16, %%k2\n\t"
      "kunpckwd %%k1, %%k2, %%k1\n\tkmovd %%k1, %[others]"
      : [agree] "=&r"(out.agree), [others] "=r"(out.others)
      : [first] "m"(*static_cast<const char(*)[64]>(first)), [second] "m"(*static_cast<const char(*)[64]>(second)),
        [one] "r"(in_first.first), [other] "r"(in_first.second), [one_there] "r"(in_second.first),
        [other_there] "r"(in_second.second), [used] "m"(all_but_mark), [mark] "m"(mark_alone)
      : "memory", "xmm16", "xmm17", "xmm18", "xmm19", "k1", "k2", "k3");
  out.agree &= upper_words;
  return out;
}
[[gnu::noinline, gnu::target("avx512f,avx512dq")]] inline seen_rest
rest_avx512(const char* bucket, unsigned begin, std::uint64_t one, std::uint64_t other) noexcept {
  constexpr unsigned line = cpu::cache_line;
  __m512i words = _mm512_setzero_si512();
  std::uint32_t agree = 0;
  for (unsigned i = 1; i < 4; ++i) {
    const __m512i part = load_avx512(bucket + (begin + i) % 4 * line);
    words = _mm512_or_si512(words, part);
    agree |= std::uint32_t{agree_avx512(part, one, other)} << (i * most_a_part);
  }
  return {agree, _mm512_test_epi64_mask(words, _mm512_set1_epi64(1))};
}

[[gnu::always_inline, gnu::target("avx2")]] inline __m256i load_avx2(const void* half) noexcept {
  __m256i part;
  asm volatile("vmovdqu %1, %0" : "=x"(part) : "m"(*static_cast<const char(*)[32]>(half)) : "memory");
  return part;
}
[[gnu::always_inline, gnu::target("avx2")]] inline unsigned bits_of(__m256i equal) noexcept {
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)));
}
[[gnu::always_inline, gnu::target("avx2")]] inline __m256i agree_avx2(__m256i part, __m256i one,
                                                                      __m256i other) noexcept {
  const __m256i upper = _mm256_srli_epi64(part, 48);
  return _mm256_or_si256(_mm256_cmpeq_epi64(upper, one), _mm256_cmpeq_epi64(upper, other));
}
[[gnu::always_inline, gnu::target("avx2")]] inline __m256i empty_avx2(__m256i part) noexcept {
  return _mm256_cmpeq_epi64(_mm256_srli_epi64(part, 1), _mm256_setzero_si256());
}
[[gnu::noinline, gnu::target("avx2")]] inline seen read_avx2(const void* line, std::uint64_t one,
                                                             std::uint64_t other) noexcept {
  const __m256i first = _mm256_set1_epi64x(static_cast<long long>(one));
  const __m256i second = _mm256_set1_epi64x(static_cast<long long>(other));
  unsigned agree = 0;
  unsigned empty = 0;
  unsigned marked = 0;
  for (unsigned i = 0; i < 2; ++i) {
    const __m256i part = load_avx2(static_cast<const char*>(line) + 32 * i);
    agree |= bits_of(agree_avx2(part, first, second)) << (4 * i);
    empty |= bits_of(empty_avx2(part)) << (4 * i);
    marked |= bits_of(_mm256_slli_epi64(part, 63)) << (4 * i);
  }
  return {agree, empty, marked};
}
[[gnu::always_inline, gnu::target("avx2")]] inline unsigned is_marked_avx2(__m256i words) noexcept {
  return _mm256_testz_si256(words, _mm256_set1_epi64x(1)) == 0 ? 1 : 0;
}
[[gnu::always_inline, gnu::target("avx2")]] inline __m256i four_of(std::uint64_t tag) noexcept {
  return _mm256_set1_epi64x(static_cast<long long>(tag));
}
/// The halves of a part of eight slots. `words`: all slots that were read, for their marks.
struct part_avx2 {
  __m256i low;
  __m256i high;
};
[[gnu::always_inline, gnu::target("avx2")]] inline part_avx2 load_part_avx2(const void* line, __m256i& words) noexcept {
  const part_avx2 out{load_avx2(line), load_avx2(static_cast<const char*>(line) + 32)};
  words = _mm256_or_si256(words, _mm256_or_si256(out.low, out.high));
  return out;
}
/// Four bits for each slot, in their order.
[[gnu::always_inline, gnu::target("avx2")]] inline std::uint32_t agree_in_part(const part_avx2& part, std::uint64_t one,
                                                                               std::uint64_t other) noexcept {
  const __m256i low = agree_avx2(part.low, four_of(one), four_of(other));
  const __m256i high = agree_avx2(part.high, four_of(one), four_of(other));
  return static_cast<std::uint32_t>(
      _mm256_movemask_epi8(_mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xd8)));
}
[[gnu::always_inline, gnu::target("avx2")]] inline unsigned used_in_part(const part_avx2& part) noexcept {
  return (bits_of(empty_avx2(part.low)) | bits_of(empty_avx2(part.high)) << 4) ^ 0xff;
}
[[gnu::noinline, gnu::target("avx2")]] inline seen_two two_avx2(const void* first, std::uint64_t one,
                                                                std::uint64_t other, const void* second,
                                                                std::uint64_t one_there,
                                                                std::uint64_t other_there) noexcept {
  __m256i words = _mm256_setzero_si256();
  const part_avx2 parts[2] = {load_part_avx2(first, words), load_part_avx2(second, words)};
  const std::uint64_t agree =
      agree_in_part(parts[0], one, other) | std::uint64_t{agree_in_part(parts[1], one_there, other_there)} << 32;
  return {agree & upper_words,
          used_in_part(parts[0]) | used_in_part(parts[1]) << most_a_part | is_marked_avx2(words) << (2 * most_a_part)};
}
[[gnu::noinline, gnu::target("avx2")]] inline seen_rest rest_avx2(const char* bucket, unsigned begin, std::uint64_t one,
                                                                  std::uint64_t other) noexcept {
  constexpr unsigned line = cpu::cache_line;
  __m256i words = _mm256_setzero_si256();
  std::uint32_t agree = 0;
  for (unsigned i = 1; i < 4; ++i) {
    const part_avx2 part = load_part_avx2(bucket + (begin + i) % 4 * line, words);
    agree |= (bits_of(agree_avx2(part.low, four_of(one), four_of(other))) |
              bits_of(agree_avx2(part.high, four_of(one), four_of(other))) << 4)
             << (i * most_a_part);
  }
  return {agree, is_marked_avx2(words)};
}

} // namespace detail

/// Reads a part of a bucket of 32 slots, or by words of one of fewer.
template <unsigned Count>
CUBBY_ALWAYS_INLINE seen read(const sync::word<std::uint64_t>* part, wanted tags, unit by) noexcept {
  if constexpr (Count == 32 && !cpu::thread_sanitizer && !CUBBY_SYNC_HOOKS) {
    if (by == unit::avx512) [[likely]]
      return detail::read_avx512(part, tags.one(), tags.other());
    if (by == unit::avx2) return detail::read_avx2(part, tags.one(), tags.other());
  }
  return read_words<slots_a_part<Count>>(part, tags);
}
/// Reads a part of each of two buckets, with one call of a kernel.
template <unsigned Count>
CUBBY_ALWAYS_INLINE seen_two read_two(const sync::word<std::uint64_t>* first, wanted in_first,
                                      const sync::word<std::uint64_t>* second, wanted in_second, unit by) noexcept {
  if constexpr (Count == 32 && !cpu::thread_sanitizer && !CUBBY_SYNC_HOOKS) {
    if (by == unit::avx512) [[likely]]
      return detail::two_avx512(first, in_first, second, in_second);
    if (by == unit::avx2)
      return detail::two_avx2(first, in_first.one(), in_first.other(), second, in_second.one(), in_second.other());
  }
  return two_by_words<slots_a_part<Count>>(first, in_first, second, in_second);
}
/// Reads what is behind the part `begin` of a bucket, with one call of a kernel.
template <unsigned Count> CUBBY_ALWAYS_INLINE seen_rest read_rest(const sync::word<std::uint64_t>* bucket,
                                                                  unsigned begin, wanted tags, unit by) noexcept {
  if constexpr (Count == 32 && !cpu::thread_sanitizer && !CUBBY_SYNC_HOOKS) {
    if (by == unit::avx512) [[likely]]
      return detail::rest_avx512(reinterpret_cast<const char*>(bucket), begin, tags.one(), tags.other());
    if (by == unit::avx2)
      return detail::rest_avx2(reinterpret_cast<const char*>(bucket), begin, tags.one(), tags.other());
  }
  return rest_by_words<Count>(bucket, begin, tags);
}
#else
enum class unit : std::uint8_t { words };
inline unit widest() noexcept { return unit::words; }
template <unsigned Count>
CUBBY_ALWAYS_INLINE seen read(const sync::word<std::uint64_t>* part, wanted tags, unit) noexcept {
  return read_words<slots_a_part<Count>>(part, tags);
}
template <unsigned Count>
CUBBY_ALWAYS_INLINE seen_two read_two(const sync::word<std::uint64_t>* first, wanted in_first,
                                      const sync::word<std::uint64_t>* second, wanted in_second, unit) noexcept {
  return two_by_words<slots_a_part<Count>>(first, in_first, second, in_second);
}
template <unsigned Count> CUBBY_ALWAYS_INLINE seen_rest read_rest(const sync::word<std::uint64_t>* bucket,
                                                                  unsigned begin, wanted tags, unit) noexcept {
  return rest_by_words<Count>(bucket, begin, tags);
}
#endif

} // namespace cubby::inline v0::detail::slots
