// SPDX-License-Identifier: Apache-2.0
// Many finds with their memory latencies overlapped: heads are asked for one group ahead; then the group's heads are read
// and their first nodes asked for; then, in record tables, the records; then each request is answered.
#pragma once

#include <cubby/engine/relativistic/find.hpp>

namespace cubby::inline v0::engines::relativistic {

/// Requests in a group.
inline constexpr std::size_t group = 32;

/// `take(i, found_word)` once for each i in [0, count), in order, of the probe that `make(i)` gives; `make` is pure and is
/// called more than once.
template <class Policy, class Make, class Take>
CUBBY_ALWAYS_INLINE void find_many(const table<Policy>& t, std::size_t count, Make& make, Take& take) {
  std::uint64_t links[group];
  const auto at_most = [count](std::size_t i) { return i < count ? i : count; };
  const auto ask = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) prefetch_head(t, make(i));
  };
  ask(0, at_most(group));
  for (std::size_t first = 0; first < count; first += group) {
    const std::size_t last = at_most(first + group);
    ask(last, at_most(last + group));
    for (std::size_t i = first; i < last; ++i) {
      links[i - first] = first_link(t, make(i).hash);
      prefetch_line(node_at(links[i - first]));
    }
    if constexpr (Policy::unique_words) {
      for (std::size_t i = first; i < last; ++i) prefetch_record(t.policy, links[i - first], make(i).word);
    }
    for (std::size_t i = first; i < last; ++i) {
      const sighting hit = search(t.policy, links[i - first], make(i));
      take(i, found_word{hit.where != nullptr && !hit.hidden, hit.value});
    }
  }
}

} // namespace cubby::inline v0::engines::relativistic
