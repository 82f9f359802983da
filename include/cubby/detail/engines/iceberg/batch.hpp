// SPDX-License-Identifier: Apache-2.0
// Many finds with overlapping memory latencies: the front lines of a group are prefetched one group ahead; then the lines are read, and
// the slots whose tags agree, or the back words, are prefetched; then each request is answered.
#pragma once

#include <cubby/detail/core/prefetch_group.hpp>
#include <cubby/detail/engines/iceberg/find.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// Prefetches the line that the lookup reads next.
template <class Policy> CUBBY_ALWAYS_INLINE void prefetch_next(const table<Policy>& t,
                                                               const lookup<Policy>& l) noexcept {
  if (l.mask != 0) {
    prefetch_line(&l.at.slots[cpu::lowest_bit(l.mask)]);
    return;
  }
  if (!may_be_behind(l.state, l.h.tag)) return;
  for (unsigned which = 0; which < 2; ++which)
    prefetch_line(back_of(t, back_hash(l.h.hash, which), l.root.level()).line);
}

/// Calls `take(i, found)` once for each i in [0, count), in order, with the answer to the probe `make(i)`. `make` must be pure: it is
/// called more than once.
template <class Policy, class Make, class Take>
CUBBY_ALWAYS_INLINE void find_many(const table<Policy>& t, std::size_t count, Make& make, Take& take) {
  const auto ask = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    for (std::size_t i = first; i < last; ++i) prefetch_front(t, make(i).hash);
  };
  const auto answer = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    lookup<Policy> begun[prefetch_group::size];
    for (std::size_t i = first; i < last; ++i) {
      begun[i - first] = begin_lookup(t, hashed_for(make(i).hash, t.fronts));
      prefetch_next(t, begun[i - first]);
    }
    for (std::size_t i = first; i < last; ++i) {
      const auto p = make(i);
      seen_entry<Policy> e;
      if (!end_lookup(t, begun[i - first], p, e)) [[unlikely]]
        e = find_entry(t, p);
      take(i, found_as<typename Policy::stored_value>{e.where != nullptr, e.value});
    }
    return true;
  };
  prefetch_group::for_each(count, ask, answer);
}

} // namespace cubby::inline v0::detail::engines::iceberg
