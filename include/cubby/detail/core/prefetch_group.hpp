// SPDX-License-Identifier: Apache-2.0
// Many requests with overlapping memory latencies (DLHT section 3.3, DRAMHiT section 3.1). Requests form groups: the lines of the
// next group are prefetched before this group is answered. A request whose first line does not answer it may be put off to the
// end of its group.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/contract/codec.hpp>
#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/prefetch.hpp>
#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail::prefetch_group {

/// Requests in a group. docs/performance/raw.md has the figures for other sizes.
inline constexpr std::size_t size = 32;

/// Storage for the requests of two neighbouring groups. Not initialized, because clearing it costs as much as several requests.
template <class Request> struct ring {
  Request requests[2 * size];
  CUBBY_ALWAYS_INLINE Request& operator[](std::size_t i) noexcept { return requests[i % (2 * size)]; }
};

/// Calls `ask(first, last)` for each group of [0, count), one group ahead, and then `answer(first, last)`. If `answer` returns
/// false, the call ends.
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

/// A bit for a line. Requests for equal keys read the same line. So after a request that was put off, all requests whose line has the
/// same bit are put off, too, and keep their order. The caller keeps the set of bits in a variable: as a member it would cost 2.6 % of
/// the instructions of DLHT's `find_batch`.
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

/// Asks for the first line of a record, and for the next one when the record of this probe's key goes on there.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE void lines_of_record(const Policy& policy, [[maybe_unused]] const Probe& probe,
                                         std::uint64_t word) noexcept {
  const auto* const first = static_cast<const std::byte*>(policy.record_of(word));
  prefetch_line(first);
  if constexpr (sized_records<Policy>) {
    const std::size_t in_line = std::bit_cast<std::uintptr_t>(first) % cpu::cache_line;
    if (in_line + policy.record_size(probe) > cpu::cache_line) prefetch_line(first + cpu::cache_line);
  }
}

} // namespace cubby::inline v0::detail::prefetch_group
