// SPDX-License-Identifier: Apache-2.0
// How slots of words move. No thread is stopped: slots move one by one to the next array, each in two steps, moving and moved; the
// empty ones are sealed.
#pragma once

#include <cubby/detail/engines/dramhit/resize.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// Stores a live word in the first free slot of its chain, in `a` or a later array. No other thread can insert its key
/// meanwhile, because all find it in its old slot.
template <slot_policy Policy>
void store_moved(table<Policy>& t, word_array* a, const word_probe& p, std::uint64_t value) noexcept {
  sync::backoff wait;
  const std::uint64_t word = stored_word(p.word);
  const bool in_side = is_in_shared_side<Policy>(p);
  while (true) {
    const auto seen = search(*a, chain_of<Policy>(*a, p), word, [](std::uint64_t) { return false; });
    if (seen.how == stop::end) {
      if (in_side) join_side(*a);
      // [entry] acq_rel: pairs with [look], [look-value]
      if (seen.where->compare_exchange(seen.contents, {word, value})) return;
      if (in_side) leave_side(*a);
      continue;
    }
    word_array* further = next_array(*a);
    if (further == nullptr) further = make_next(t, *a, a->lines * growth_factor(a->lines, t.settings));
    // Without memory: J5 has kept a slot for this word in the side region, and is_reserved_for_moves in the main
    // region, unless more concurrent inserts than its margin did not count each other. Then the only way is to wait for
    // memory.
    if (further == nullptr) wait.pause();
    else a = further;
  }
}

/// Moves the live word of `s`, or seals the slot if it is free.
template <slot_policy Policy>
void move_slot(table<Policy>& t, word_array& a, slot& s, std::uint64_t unit) noexcept {
  const bool in_main = &s < a.slots + a.slot_count();
  for (;;) {
    // [look] acquire: pairs with [entry]
    const std::uint64_t seen = s.first.load(sync::acquire);
    const auto [key, value] = words_of(s, seen);
    if (key == dead && (in_main || Policy::unique_words)) return;
    if (key == moved || (key == empty && value == sealed_mark)) return;
    if (is_reserved(key)) { // empty, or dead in a slot of its own
      // [entry] acq_rel: pairs with [look], [look-value]
      if (s.compare_exchange({key, value}, closed(key, value))) return;
      continue;
    }
    // [carry] release: pairs with [carried]; what stood here told of a slot that is moved by now
    a.cells[unit].store(key, sync::release);
    // [entry] acq_rel: pairs with [look], [look-value]
    if (!s.compare_exchange({key, value}, {moving, value})) continue;
    const std::uint64_t asked = in_main ? key : key - reserved_words;
    store_moved(t, next_array(a), word_probe{t.policy.hash_of(asked, value), asked}, value);
    // [moved-on] release: pairs with [look]
    s.first.store(moved, sync::release);
    return;
  }
}

/// Asks memory for the lines that a unit's words will move to.
template <class Policy>
void prefetch_unit(const table<Policy>& t, const word_array& a, std::uint64_t from, std::uint64_t to) noexcept {
  const word_array& next = *next_array(a);
  for (std::uint64_t i = from; i < to; ++i) {
    // relaxed: a hint, for entries that are their own words; a record may be gone by the time it is hashed
    const std::uint64_t key = a.slots[i].first.load(sync::relaxed);
    if constexpr (!Policy::unique_words) {
      if (!is_reserved(key)) prefetch_line(home_line<Policy>(next, t.policy.hash_of(key, 0)));
    }
  }
}

/// Moves the slots of these units, which no other thread moves.
template <slot_policy Policy>
generations::moved_parts move_range(table<Policy>& t, word_array& a, generations::unit_range units) noexcept {
  for (std::uint64_t unit = units.first; unit < units.last; ++unit) {
    const std::uint64_t from = unit * a.in_unit;
    const std::uint64_t to = from + a.in_unit < a.all_slots() ? from + a.in_unit : a.all_slots();
    prefetch_unit(t, a, from, to);
    for (std::uint64_t i = from; i < to; ++i) move_slot(t, a, a.slots[i], unit);
  }
  return {.count = units.last - units.first};
}

} // namespace cubby::inline v0::detail::engines::dramhit
