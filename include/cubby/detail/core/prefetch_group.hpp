// SPDX-License-Identifier: Apache-2.0
// Many requests with their memory latencies overlapped. Requests go by groups: the lines of the next group are asked for
// before this one is answered. A request that its first line does not answer may be put off to the end of its group.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail::prefetch_group {

/// Requests in a group. docs/performance.md (constants) has the figures for other sizes.
inline constexpr std::size_t size = 32;

/// What is kept of the requests of two neighbouring groups. Not initialized: clearing it costs as much as some requests.
template <class Request> struct ring {
  Request requests[2 * size];
  CUBBY_ALWAYS_INLINE Request& operator[](std::size_t i) noexcept { return requests[i % (2 * size)]; }
};

/// Calls `ask(first, last)` for each group of [0, count), one group ahead, and `answer(first, last)`, which may end it all with
/// false.
template <class Ask, class Answer>
CUBBY_ALWAYS_INLINE void for_each(std::size_t count, Ask ask, Answer answer) {
  const auto at_most = [count](std::size_t i) { return i < count ? i : count; };
  ask(std::size_t{0}, at_most(size));
  for (std::size_t first = 0; first < count; first += size) {
    const std::size_t next = at_most(first + size);
    ask(next, at_most(next + size));
    if (!answer(first, next)) return;
  }
}

/// A bit for a line. Requests for equal keys are about the same line. So behind a request that was put off, those whose line has
/// its bit are put off too, and stay in order. The sum of bits is a word of the caller's: as a member it costs 2.6 % of the
/// instructions of DLHT's `find_batch`.
CUBBY_ALWAYS_INLINE std::uint64_t bit_of_line(const void* line) noexcept {
  return std::uint64_t{1} << (reinterpret_cast<std::uintptr_t>(line) / cpu::cache_line % 64);
}

/// The requests of a group that are answered after the others.
class put_off {
public:
  CUBBY_ALWAYS_INLINE void add(std::size_t i) noexcept { requests_[count_++] = i; }
  [[nodiscard]] CUBBY_ALWAYS_INLINE std::size_t count() const noexcept { return count_; }
  CUBBY_ALWAYS_INLINE std::size_t operator[](std::size_t k) const noexcept { return requests_[k]; }

private:
  std::size_t count_ = 0;
  std::size_t requests_[size];
};

} // namespace cubby::inline v0::detail::prefetch_group
