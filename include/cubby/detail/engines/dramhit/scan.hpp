// SPDX-License-Identifier: Apache-2.0
// Iteration over all entries, weak.
#pragma once

#include <cubby/detail/engines/dramhit/search_tuple.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// Calls `f(key word, value word)` for each entry of one array, also for those that are moving.
template <class F> void for_each_in(const word_array& a, F& f) {
  for (std::uint64_t i = 0; i < a.all_slots(); ++i) {
    slot& s = a.slots[i];
    // [look] acquire: pairs with [entry]
    std::uint64_t key = s.first.load(sync::acquire);
    if (key == moving) {
      // [carried] acquire: pairs with [carry]
      const std::uint64_t carried = a.cells[i / a.in_unit].load(sync::acquire);
      if (s.first.load(sync::acquire) == moving) key = carried; // [look] acquire: pairs with [moved-on]
    }
    if (is_reserved(key)) continue;
    // [look-value] acquire: pairs with [entry]
    const std::uint64_t value = s.second.load(sync::acquire);
    f(i < a.slot_count() ? key : key - reserved_words, value);
  }
}

/// Copies the entry of a tuple, if there is one. Waits while its value is being written.
template <class Policy>
bool read_entry(const tuple<Policy>& s, typename Policy::stored_key& key,
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
/// Calls `f(key words, value words)` for each entry of one array, also for those that are moving.
template <class Policy, class F> void for_each_in(const tuple_array<Policy>& a, F& f) {
  typename Policy::stored_key key;
  typename Policy::stored_value value;
  for (std::uint64_t i = 0; i < a.slot_count(); ++i)
    if (read_entry(a.slots[i], key, value)) f(key, value);
}

/// A weak scan: an entry that is present throughout is shown at least once, and again if it is moved during the scan.
template <class Policy, class F> void for_each(const table<Policy>& t, F& f) {
  generations::for_each_generation(t, [&f](const auto& a) { for_each_in(a, f); });
}

} // namespace cubby::inline v0::detail::engines::dramhit
