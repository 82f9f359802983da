// SPDX-License-Identifier: Apache-2.0
// Many requests with overlapping memory latencies (DLHT section 3.3, DRAMHiT section 3.1). Requests form groups: the lines of the
// next group are prefetched before this group is answered. A request whose first line does not answer it may be put off to the
// end of its group. Requests that are answered in their order may be asked for at another pace.
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

/// How the lines of requests are asked for: those of the next `ahead` requests, `run` of them together. `run` is a power of two.
struct pace {
  std::size_t ahead;
  std::size_t run;
};
/// By groups, one ahead.
inline constexpr pace by_groups{2 * size, size};
/// For a processor that drops prefetches: in most requests no more lines than it takes. docs/performance/raw.md has the figures of other numbers.
inline constexpr pace evenly{20, 4};

/// Storage for the requests of two neighbouring groups. Not initialized, because clearing it costs as much as several requests.
template <class Request> struct ring {
  Request requests[2 * size];
  CUBBY_ALWAYS_INLINE Request& operator[](std::size_t i) noexcept { return requests[i % (2 * size)]; }
};

/// Requests in a group of a call of finds: where prefetches are dropped, fewer if the call has several groups.
[[nodiscard]] CUBBY_ALWAYS_INLINE std::size_t size_in(std::size_t count) noexcept {
  return count > size && cpu::drops_prefetches() ? size / 2 : size;
}
/// Calls `ask(first, last)` for each group of [0, count), one group ahead, and then `answer(first, last)`. If `answer` returns
/// false, the call ends. `group`: of so many requests, at most `size`.
template <class Ask, class Answer>
CUBBY_ALWAYS_INLINE void for_each(std::size_t count, Ask ask, Answer answer, std::size_t group = size) {
  const auto at_most = [count](std::size_t i) { return i < count ? i : count; };
  ask(std::size_t{0}, at_most(group));
  for (std::size_t first = 0; first < count; first += group) {
    const std::size_t next = at_most(first + group);
    ask(next, at_most(next + group));
    if (!answer(first, next)) return;
  }
}

/// The pace of requests that end in the lines which are asked for first. Those that lead from line to line go by groups: evenly, an assign of a
/// text took an eighth longer in `dlht`, and a sixth longer in `iceberg`.
[[nodiscard]] CUBBY_ALWAYS_INLINE pace pace_here() noexcept { return cpu::drops_prefetches() ? evenly : by_groups; }
/// Calls `act(i) -> bool` for each i in [0, count), in order, until it answers false, and returns the number of calls. `ask(first, last)` comes
/// before that, once for each request, and returns about how many different lines these have. Only its first answer counts.
template <class Ask, class Act>
CUBBY_ALWAYS_INLINE std::size_t in_order(std::size_t count, pace how, Ask ask, Act act) {
  std::size_t asked = 0;
  std::size_t lines = 0;
  const auto ask_before = [&](std::size_t end) CUBBY_INLINED {
    const std::size_t last = end < count ? end : count;
    if (asked < last) lines += ask(asked, last);
    asked = last;
  };
  ask_before(how.ahead < size ? how.ahead : size);
  // A call that begins with pairs of requests for one key, such as an insert and its erase, has few lines for a group. Evenly it took longer.
  if (2 * lines <= asked + 2) how = by_groups;
  for (std::size_t i = 0; i < count; ++i) {
    if ((i & (how.run - 1)) == 0) ask_before(i + how.ahead);
    if (!act(i)) return i + 1;
  }
  return count;
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

/// Asks for the first line of what readers need of a record, and for the next one when the record of this probe's key goes on there. `in_front`: the
/// bytes of the engine with which that begins.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE void lines_from(const Policy& policy, [[maybe_unused]] const Probe& probe, const void* record,
                                    [[maybe_unused]] std::size_t in_front = 0) noexcept {
  const auto* const first = static_cast<const std::byte*>(record);
  prefetch_line(first);
  if constexpr (sized_records<Policy>) {
    const std::size_t in_line = std::bit_cast<std::uintptr_t>(first) % cpu::cache_line;
    if (in_line + in_front + policy.record_size(probe) > cpu::cache_line) prefetch_line(first + cpu::cache_line);
  }
}
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE void lines_of_record(const Policy& policy, const Probe& probe, std::uint64_t word) noexcept {
  lines_from(policy, probe, policy.record_of(word));
}

} // namespace cubby::inline v0::detail::prefetch_group
