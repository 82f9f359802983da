// SPDX-License-Identifier: Apache-2.0
// Reads a part of a bucket of 8-byte slots that other threads may be writing, and compares the upper 16 bits of each (SEPH section 3.2.2). A bucket
// has four parts, or as many as it has slots if these are fewer. A part of eight slots is a line. On x86-64 vector loads read it, by the
// widest unit of the processor, which is chosen at run time. Each 8 bytes of such a load are read at once, loads are not reordered, and
// compilers keep them in order, because they are assembly. ThreadSanitizer and the hooks of tests do not see vector loads, so their builds
// read words; so does AArch64. What goes into a kernel and what comes out is in registers: structures of smaller members were written and
// read back through memory, at 10 ns a call.
#pragma once

#include <cstdint>

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
  /// The upper 16 bits are one of the two that were asked for, and the slot is not empty.
  [[nodiscard]] constexpr unsigned agree() const noexcept { return bits_ & ~empty() & 0xff; }
  /// Nothing but the lowest bit is set.
  [[nodiscard]] constexpr unsigned empty() const noexcept { return bits_ >> 8 & 0xff; }
  /// The lowest bit of some slot is set.
  [[nodiscard]] constexpr bool marked() const noexcept { return bits_ >> 16 != 0; }

private:
  std::uint32_t bits_;
};
/// What a part of each of two buckets shows, in the lower bits those of `agree`.
class seen_two {
public:
  static constexpr unsigned full_shift = 2 * most_a_part;
  static constexpr unsigned marked_shift = full_shift + 2;
  constexpr seen_two(unsigned agree, bool first_full, bool second_full, bool marked) noexcept
      : bits_(agree | static_cast<unsigned>(first_full) << full_shift |
              static_cast<unsigned>(second_full) << (full_shift + 1) | static_cast<unsigned>(marked) << marked_shift) {}
  constexpr seen_two(seen first, seen second) noexcept
      : seen_two(first.agree() | second.agree() << most_a_part, first.empty() == 0, second.empty() == 0,
                 first.marked() || second.marked()) {}
  /// As in `seen`. Bit `most_a_part + i` is that of slot i of the second part.
  [[nodiscard]] constexpr unsigned agree() const noexcept { return bits_ & ((1U << full_shift) - 1); }
  /// No slot of the first part (0), or of the second one (1), is empty.
  [[nodiscard]] constexpr bool is_full(unsigned which) const noexcept {
    return (bits_ >> full_shift >> which & 1) != 0;
  }
  [[nodiscard]] constexpr bool marked() const noexcept { return bits_ >> marked_shift != 0; }

private:
  std::uint32_t bits_;
};
/// The upper 16 bits to look for, as numbers.
struct wanted {
  std::uint64_t one;
  std::uint64_t other;
};

template <unsigned Slots> CUBBY_ALWAYS_INLINE seen read_words(const sync::word<std::uint64_t>* part,
                                                              wanted tags) noexcept {
  unsigned agree = 0;
  unsigned empty = 0;
  unsigned marked = 0;
  for (unsigned i = 0; i < Slots; ++i) {
    // [slot] acquire: pairs with [put-slot], and with [put-mark]
    const std::uint64_t word = part[i].load(sync::acquire);
    agree |= (word >> 48 == tags.one || word >> 48 == tags.other ? 1U : 0U) << i;
    empty |= ((word & ~std::uint64_t{1}) == 0 ? 1U : 0U) << i;
    marked |= static_cast<unsigned>(word & 1) << i;
  }
  return {agree, empty, marked};
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
[[gnu::always_inline, gnu::target("avx512f,avx512dq")]] inline __m512i load_avx512(const void* line) noexcept {
  __m512i part;
  asm volatile("vmovdqu64 %1, %0" : "=v"(part) : "m"(*static_cast<const char(*)[64]>(line)) : "memory");
  return part;
}
/// Slots of `among` whose upper 16 bits are one of the two.
[[gnu::always_inline, gnu::target("avx512f,avx512dq")]] inline unsigned
agree_avx512(__mmask8 among, __m512i part, std::uint64_t one, std::uint64_t other) noexcept {
  const auto upper = reinterpret_cast<__m512i>(reinterpret_cast<eight_words>(part) >> 48);
  return unsigned{_mm512_mask_cmpeq_epi64_mask(among, upper, _mm512_set1_epi64(static_cast<long long>(one)))} |
         unsigned{_mm512_mask_cmpeq_epi64_mask(among, upper, _mm512_set1_epi64(static_cast<long long>(other)))};
}
[[gnu::noinline, gnu::target("avx512f,avx512dq")]] inline seen read_avx512(const void* line, std::uint64_t one,
                                                                           std::uint64_t other) noexcept {
  const __m512i part = load_avx512(line);
  return {agree_avx512(0xff, part, one, other), _mm512_testn_epi64_mask(part, _mm512_set1_epi64(~1LL)),
          _mm512_test_epi64_mask(part, _mm512_set1_epi64(1))};
}
[[gnu::noinline, gnu::target("avx512f,avx512dq")]] inline seen_two two_avx512(const void* first, std::uint64_t one,
                                                                              std::uint64_t other, const void* second,
                                                                              std::uint64_t one_there,
                                                                              std::uint64_t other_there) noexcept {
  const __m512i parts[2] = {load_avx512(first), load_avx512(second)};
  const __m512i all_but_mark = _mm512_set1_epi64(~1LL);
  const __mmask8 used[2] = {_mm512_test_epi64_mask(parts[0], all_but_mark),
                            _mm512_test_epi64_mask(parts[1], all_but_mark)};
  const unsigned agree = agree_avx512(used[0], parts[0], one, other) |
                         agree_avx512(used[1], parts[1], one_there, other_there) << most_a_part;
  return {agree, used[0] == 0xff, used[1] == 0xff,
          _mm512_test_epi64_mask(_mm512_or_si512(parts[0], parts[1]), _mm512_set1_epi64(1)) != 0};
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
/// The slots of a part that agree. `full`: none is empty. It adds the slots to `words`, for their marks.
[[gnu::always_inline, gnu::target("avx2")]] inline unsigned
half_of_two_avx2(const void* line, std::uint64_t one, std::uint64_t other, bool& full, __m256i& words) noexcept {
  const __m256i first = _mm256_set1_epi64x(static_cast<long long>(one));
  const __m256i second = _mm256_set1_epi64x(static_cast<long long>(other));
  const __m256i low = load_avx2(line);
  const __m256i high = load_avx2(static_cast<const char*>(line) + 32);
  const __m256i low_empty = empty_avx2(low);
  const __m256i high_empty = empty_avx2(high);
  const __m256i any = _mm256_or_si256(low_empty, high_empty);
  full = _mm256_testz_si256(any, any) != 0;
  words = _mm256_or_si256(words, _mm256_or_si256(low, high));
  return bits_of(_mm256_andnot_si256(low_empty, agree_avx2(low, first, second))) |
         bits_of(_mm256_andnot_si256(high_empty, agree_avx2(high, first, second))) << 4;
}
[[gnu::noinline, gnu::target("avx2")]] inline seen_two two_avx2(const void* first, std::uint64_t one,
                                                                std::uint64_t other, const void* second,
                                                                std::uint64_t one_there,
                                                                std::uint64_t other_there) noexcept {
  __m256i words = _mm256_setzero_si256();
  bool first_full = false;
  bool second_full = false;
  const unsigned agree = half_of_two_avx2(first, one, other, first_full, words);
  const unsigned there = half_of_two_avx2(second, one_there, other_there, second_full, words);
  return {agree | there << most_a_part, first_full, second_full, _mm256_testz_si256(words, _mm256_set1_epi64x(1)) == 0};
}

} // namespace detail

/// Reads a part of a bucket of 32 slots, or by words of one of fewer.
template <unsigned Count>
CUBBY_ALWAYS_INLINE seen read(const sync::word<std::uint64_t>* part, wanted tags, unit by) noexcept {
  if constexpr (Count == 32 && !cpu::thread_sanitizer && !CUBBY_SYNC_HOOKS) {
    if (by == unit::avx512) [[likely]]
      return detail::read_avx512(part, tags.one, tags.other);
    if (by == unit::avx2) return detail::read_avx2(part, tags.one, tags.other);
  }
  return read_words<slots_a_part<Count>>(part, tags);
}
/// Reads a part of each of two buckets, with one call of a kernel.
template <unsigned Count>
CUBBY_ALWAYS_INLINE seen_two read_two(const sync::word<std::uint64_t>* first, wanted in_first,
                                      const sync::word<std::uint64_t>* second, wanted in_second, unit by) noexcept {
  if constexpr (Count == 32 && !cpu::thread_sanitizer && !CUBBY_SYNC_HOOKS) {
    if (by == unit::avx512) [[likely]]
      return detail::two_avx512(first, in_first.one, in_first.other, second, in_second.one, in_second.other);
    if (by == unit::avx2)
      return detail::two_avx2(first, in_first.one, in_first.other, second, in_second.one, in_second.other);
  }
  return {read_words<slots_a_part<Count>>(first, in_first), read_words<slots_a_part<Count>>(second, in_second)};
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
  return {read_words<slots_a_part<Count>>(first, in_first), read_words<slots_a_part<Count>>(second, in_second)};
}
#endif

} // namespace cubby::inline v0::detail::slots
