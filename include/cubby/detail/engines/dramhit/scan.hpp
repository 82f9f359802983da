// SPDX-License-Identifier: Apache-2.0
// Iteration over all entries, weak.
#pragma once

#include <cubby/detail/core/scan_phases.hpp>
#include <cubby/detail/engines/dramhit/search_tuple.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// Calls `f(key word, value word)` for each entry in slots [first, end) of one array, also for those that are moving.
template <class F> void show_slots(const word_array& a, std::uint64_t first, std::uint64_t end, F& f) {
  for (std::uint64_t i = first; i < end; ++i) {
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
[[nodiscard]] inline std::uint64_t slots_to_show(const word_array& a) noexcept { return a.all_slots(); }

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
/// The same for tuples.
template <class Policy, class F>
void show_slots(const tuple_array<Policy>& a, std::uint64_t first, std::uint64_t end, F& f) {
  typename Policy::stored_key key;
  typename Policy::stored_value value;
  for (std::uint64_t i = first; i < end; ++i)
    if (read_entry(a.slots[i], key, value)) f(key, value);
}
template <class Policy> [[nodiscard]] std::uint64_t slots_to_show(const tuple_array<Policy>& a) noexcept {
  return a.slot_count();
}

template <class Array, class F> void for_each_in(const Array& a, F& f) { show_slots(a, 0, slots_to_show(a), f); }

/// A weak scan: an entry that is present throughout is shown at least once, and again if it is moved during the scan.
template <class Policy, class F> void for_each(const table<Policy>& t, F& f) {
  generations::for_each_generation(t, [&f](const auto& a) {
    for_each_in(a, f);
    end_part(f);
  });
}

/// A scan that threads share: each array is a phase. The guard of the thread that begins it keeps the arrays.
template <class Policy> struct scan_phase {
  const typename table<Policy>::generation_type* in;
  std::uint64_t units; // slots
};
template <class Policy> scan_phase<Policy> phase_of(const typename table<Policy>::generation_type* in) noexcept {
  return {in, in == nullptr ? 0 : slots_to_show(*in)};
}
template <class Policy> using shared_scan = scan_phases<scan_phase<Policy>>;
template <class Policy, class F> void for_each_of(shared_scan<Policy>& w, F& f) {
  constexpr std::uint64_t at_a_time = 4096;
  w.share_out(
      at_a_time,
      [&](const scan_phase<Policy>& at, std::uint64_t first, std::uint64_t count) {
        show_slots(*at.in, first, first + count, f);
        end_part(f);
      },
      [](scan_phase<Policy>& at) {
        at = phase_of<Policy>(generations::next_with_entries(*at.in));
        return at.in != nullptr;
      });
}

} // namespace cubby::inline v0::detail::engines::dramhit
