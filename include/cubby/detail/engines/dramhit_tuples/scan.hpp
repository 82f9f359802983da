// SPDX-License-Identifier: Apache-2.0
// Iteration over all entries.
#pragma once

#include <cubby/detail/engines/dramhit_tuples/table.hpp>

namespace cubby::inline v0::engines::dramhit_tuples {

/// A copy of an entry, if there is one; waits while its value is being written.
template <class Policy, class Threads>
bool read_entry(const tuple<Policy, Threads>& s, typename Policy::stored_key& key,
                typename Policy::stored_value& value) noexcept {
  for (sync::backoff wait;; wait.pause()) {
    // [look-at-tuple] acquire: pairs with [show-tuple], [show-value], [carry-tuple], [tuple-moved]
    const std::uint64_t h = s.header.load(sync::acquire);
    if (state_of(h) != state::live && state_of(h) != state::moving) return false;
    if (is_written(h)) continue;
    read_key(s, key);
    read_value(s, value);
    // relaxed: behind acquire loads of the words, as in look_at
    if (s.header.load(sync::relaxed) == h) return true;
  }
}

/// `f(key words, value words)` for each entry. Weak: an entry that is there all the time is met at least once, and again
/// if it moves behind the scan.
template <class Policy, class Threads, class F> void for_each(const table<Policy, Threads>& t, F& f) {
  typename Policy::stored_key key;
  typename Policy::stored_value value;
  generations::for_each_generation(t, [&](const array<Policy, Threads>& a) {
    for (std::uint64_t i = 0; i < a.slot_count(); ++i)
      if (read_entry(a.tuples[i], key, value)) f(key, value);
  });
}

} // namespace cubby::inline v0::engines::dramhit_tuples
