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
/// What a part of each of two buckets shows: 16 bits of slots that agree, 16 of empty ones, and whether any is marked. Bit `most_a_part + i` is that
/// of slot i of the second part.
class seen_two {
public:
  constexpr seen_two(seen first, seen second) noexcept
      : bits_(first.agree() | second.agree() << most_a_part | (first.empty() | second.empty() << most_a_part) << 16 |
              std::uint64_t{first.marked() || second.marked()} << 32) {}
  explicit constexpr seen_two(std::uint64_t bits) noexcept : bits_(bits) {}
  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr unsigned agree() const noexcept { return bits_ & 0xffff; }
  /// No slot of the first part (0), or of the second one (1), is empty.
  [[nodiscard]] constexpr bool is_full(unsigned which) const noexcept {
    return (bits_ >> (16 + which * most_a_part) & 0xff) == 0;
  }
  [[nodiscard]] constexpr bool marked() const noexcept { return bits_ >> 32 != 0; }

private:
  std::uint64_t bits_;
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
[[gnu::always_inline, gnu::target("avx512f,avx512dq")]] inline seen part_avx512(const void* line,
                                                                                wanted tags) noexcept {
  const auto [one, other] = tags;
  __m512i part;
  asm volatile("vmovdqu64 %1, %0" : "=v"(part) : "m"(*static_cast<const char(*)[64]>(line)) : "memory");
  const auto upper = reinterpret_cast<__m512i>(reinterpret_cast<eight_words>(part) >> 48);
  const unsigned agree = _mm512_cmpeq_epi64_mask(upper, _mm512_set1_epi64(static_cast<long long>(one))) |
                         _mm512_cmpeq_epi64_mask(upper, _mm512_set1_epi64(static_cast<long long>(other)));
  return {agree, _mm512_testn_epi64_mask(part, _mm512_set1_epi64(~1LL)),
          _mm512_test_epi64_mask(part, _mm512_set1_epi64(1))};
}
[[gnu::always_inline, gnu::target("avx2")]] inline seen part_avx2(const void* line, wanted tags) noexcept {
  const auto [one, other] = tags;
  const auto* const halves = static_cast<const char(*)[32]>(line);
  const __m256i first = _mm256_set1_epi64x(static_cast<long long>(one));
  const __m256i second = _mm256_set1_epi64x(static_cast<long long>(other));
  const auto bits = [](__m256i equal) __attribute__((target("avx2"), always_inline)) {
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)));
  };
  unsigned agree = 0;
  unsigned empty = 0;
  unsigned marked = 0;
  for (unsigned i = 0; i < 2; ++i) {
    __m256i part;
    asm volatile("vmovdqu %1, %0" : "=x"(part) : "m"(halves[i]) : "memory");
    const __m256i upper = _mm256_srli_epi64(part, 48);
    agree |= bits(_mm256_or_si256(_mm256_cmpeq_epi64(upper, first), _mm256_cmpeq_epi64(upper, second))) << (4 * i);
    empty |= bits(_mm256_cmpeq_epi64(_mm256_srli_epi64(part, 1), _mm256_setzero_si256())) << (4 * i);
    marked |= bits(_mm256_slli_epi64(part, 63)) << (4 * i);
  }
  return {agree, empty, marked};
}
[[gnu::noinline, gnu::target("avx512f,avx512dq")]] inline seen read_avx512(const void* line, std::uint64_t one,
                                                                           std::uint64_t other) noexcept {
  return part_avx512(line, {one, other});
}
[[gnu::noinline, gnu::target("avx2")]] inline seen read_avx2(const void* line, std::uint64_t one,
                                                             std::uint64_t other) noexcept {
  return part_avx2(line, {one, other});
}
[[gnu::noinline, gnu::target("avx512f,avx512dq")]] inline std::uint64_t
two_avx512(const void* line, std::uint64_t one, std::uint64_t other, const void* line_2, std::uint64_t one_2,
           std::uint64_t other_2) noexcept {
  return seen_two(part_avx512(line, {one, other}), part_avx512(line_2, {one_2, other_2})).bits();
}
[[gnu::noinline, gnu::target("avx2")]] inline std::uint64_t two_avx2(const void* line, std::uint64_t one,
                                                                     std::uint64_t other, const void* line_2,
                                                                     std::uint64_t one_2,
                                                                     std::uint64_t other_2) noexcept {
  return seen_two(part_avx2(line, {one, other}), part_avx2(line_2, {one_2, other_2})).bits();
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
      return seen_two(detail::two_avx512(first, in_first.one, in_first.other, second, in_second.one, in_second.other));
    if (by == unit::avx2)
      return seen_two(detail::two_avx2(first, in_first.one, in_first.other, second, in_second.one, in_second.other));
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
