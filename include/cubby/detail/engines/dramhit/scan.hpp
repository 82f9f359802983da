// SPDX-License-Identifier: Apache-2.0
// Iteration over all entries.
#pragma once

#include <cubby/detail/engines/dramhit/table.hpp>

namespace cubby::inline v0::engines::dramhit {

/// `f(key word, value word)` for each entry of one array, those on their way out included.
template <class Threads, class F> void for_each_in(const array<Threads>& a, F& f) {
  for (std::uint64_t i = 0; i < a.all_slots(); ++i) {
    slot<Threads>& s = a.slots[i];
    // [look] acquire: pairs with [entry]
    std::uint64_t key = s.first.load(sync::acquire);
    if (key == moving) {
      // [carried] acquire: pairs with [carry]
      const std::uint64_t carried = a.cells[i / unit_slots].load(sync::acquire);
      if (s.first.load(sync::acquire) == moving) key = carried; // [look] acquire: pairs with [moved-on]
    }
    if (is_reserved(key)) continue;
    // [look-value] acquire: pairs with [entry]
    const std::uint64_t value = s.second.load(sync::acquire);
    f(i < a.slot_count() ? key : key - reserved_words, value);
  }
}

/// Weak: an entry that is there all the time is met at least once, and again if it moves behind the scan.
template <class Policy, class Threads, class F> void for_each(const table<Policy, Threads>& t, F& f) {
  generations::for_each_generation(t, [&f](const array<Threads>& a) { for_each_in(a, f); });
}

} // namespace cubby::inline v0::engines::dramhit
