// SPDX-License-Identifier: Apache-2.0
// Many finds with overlapping memory latencies. Bucket heads are prefetched one group ahead. Then the group's heads are read and
// their first nodes prefetched; then, in record tables, the records; then each request is answered. The paper has no batches.
#pragma once

#include <cubby/detail/core/prefetch_group.hpp>
#include <cubby/detail/engines/relativistic/find.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// Calls `take(i, found_word)` once for each i in [0, count), in order, with the answer to the probe `make(i)`. `make` must be pure: it
/// is called more than once.
template <class Policy, class Make, class Take>
CUBBY_ALWAYS_INLINE void find_many(const table<Policy>& t, std::size_t count, Make& make, Take& take) {
  const auto ask = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    for (std::size_t i = first; i < last; ++i) prefetch_head(t, make(i));
  };
  const auto answer = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    std::uint64_t links[prefetch_group::size];
    for (std::size_t i = first; i < last; ++i) {
      links[i - first] = first_link(t, make(i).hash);
      prefetch_line(node_at(links[i - first]));
    }
    if constexpr (Policy::unique_words) {
      for (std::size_t i = first; i < last; ++i) prefetch_record(t.policy, links[i - first], make(i));
    }
    for (std::size_t i = first; i < last; ++i) {
      const seen_slot hit = search(t.policy, links[i - first], make(i));
      take(i, found_word{hit.where != nullptr && !hit.hidden, hit.value});
    }
    return true;
  };
  prefetch_group::for_each(count, ask, answer);
}

} // namespace cubby::inline v0::detail::engines::relativistic
