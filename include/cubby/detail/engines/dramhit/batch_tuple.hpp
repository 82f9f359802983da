// SPDX-License-Identifier: Apache-2.0
// Batches of finds in tuples, with prefetches ahead (section 3.1), by groups.
#pragma once

#include <cubby/detail/core/prefetch_group.hpp>
#include <cubby/detail/engines/dramhit/find_tuple.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// Calls `take(i, found)` once for each i in [0, count), with the answer to the probe `make(i)`. Equal probes come in their order, others
/// in any order. `make` must be pure and is called two or three times. The lines of the next group are prefetched before this group is
/// read. A request that its line does not decide prefetches the line behind, and is answered after the others of its group; so are
/// later requests of the same line.
template <tuple_policy Policy, class Make, class Take>
CUBBY_ALWAYS_INLINE void find_many(const table<Policy>& t, std::size_t count, Make& make, Take& take) {
  const auto& a = *first_array(t);
  const auto ask = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    for (std::size_t i = first; i < last; ++i) prefetch_line(home_line<Policy>(a, make(i).hash));
  };
  const auto answer = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    prefetch_group::put_off later;
    std::uint64_t waiting_lines = 0;
    const auto* const next_one = next_array(a); // while the table moves, most keys are in one of two home lines
    for (std::size_t i = first; i < last; ++i) {
      const auto p = make(i);
      auto* const home = home_line<Policy>(a, p.hash);
      const std::uint64_t bit = prefetch_group::bit_of_line(home);
      const line_hint saw = look_at_tags(home, tag_of_hash(p.hash));
      if ((waiting_lines & bit) == 0 && (saw == line_hint::near || (saw == line_hint::end && next_one == nullptr))) {
        take(i, find(t, p));
        continue;
      }
      waiting_lines |= bit;
      if (saw == line_hint::further) prefetch_line(behind(a, home + a.in_line - 1));
      if (next_one != nullptr) [[unlikely]]
        prefetch_line(home_line<Policy>(*next_one, p.hash));
      later.add(i);
    }
    for (std::size_t k = 0; k < later.count(); ++k) take(later[k], find(t, make(later[k])));
    return true;
  };
  prefetch_group::for_each(count, ask, answer);
}

} // namespace cubby::inline v0::detail::engines::dramhit
