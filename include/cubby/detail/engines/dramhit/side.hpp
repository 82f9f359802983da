// SPDX-License-Identifier: Apache-2.0
// Who may take a slot of a side region that many keys share (J5). Each array keeps `side_due` slots of it for what moves
// here; that is no less than the keys which the array before can ever send, because inserts there are counted in before
// they take a slot, and turned away from the moment on at which the sum was taken.
#pragma once

#include <cubby/detail/engines/dramhit/table.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// Whether the key of a probe lives among all others; tuples have no reserved words.
CUBBY_ALWAYS_INLINE bool is_in_main_region(const word_probe& p) noexcept { return !is_reserved(p.word); }
template <class Key> CUBBY_ALWAYS_INLINE bool is_in_main_region(const tuple_probe<Key>&) noexcept { return true; }
/// Whether the key of a probe shares the side region with others.
template <class Policy> CUBBY_ALWAYS_INLINE bool is_in_shared_side(const word_probe& p) noexcept {
  if constexpr (Policy::unique_words) return is_reserved(p.word);
  return false;
}

/// Counts a key out again that was erased, or that did not take its slot.
inline void leave_side(word_array& a) noexcept {
  (void)a.side_live.fetch_add(~std::uint64_t{0}, sync::relaxed); // relaxed: a sum; it has been too high, never too low
}
/// Counts in a key that moves here.
inline void join_side(word_array& a) noexcept {
  (void)a.side_live.fetch_add(1, sync::relaxed); // relaxed: a sum; [count-done] has published it when it is relied on
}

/// True: the caller may take a slot, and has been counted in. False: it goes on to the next array.
inline bool claim_side(word_array& a) noexcept {
  // relaxed: one word's order decides whether the claim or the sum of close_side came first
  if ((a.side_live.fetch_add(1, sync::relaxed) & side_closed) == 0) {
    // relaxed: shares out numbers
    if (a.side_taken.fetch_add(1, sync::relaxed) < a.side_slots() - a.side_due) return true;
  }
  leave_side(a);
  return false;
}
/// The slot was not taken after all: somebody was faster.
inline void unclaim_side(word_array& a) noexcept {
  (void)a.side_taken.fetch_add(~std::uint64_t{0},
                               sync::relaxed); // relaxed: too high meanwhile, so that none is missing
  leave_side(a);
}

/// Turns inserts away from the side region of `a`, and tells how many keys may move on from it: those that are counted
/// in, and those that may still arrive. Under the lock of growth.
template <slot_policy Policy>
std::uint64_t close_side(const table<Policy>& t, word_array& a) noexcept {
  if constexpr (!Policy::unique_words) return 0;
  // All has arrived when the root is here. Asked first: what arrives later is counted in both.
  const std::uint64_t to_come = first_array(t) == &a ? 0 : a.side_due;
  // relaxed: see claim_side
  return to_come + a.side_live.fetch_add(side_closed, sync::relaxed);
}
/// There was no memory for the next array.
template <class Policy> void open_side(word_array& a) noexcept {
  if constexpr (Policy::unique_words) (void)a.side_live.fetch_add(side_closed, sync::relaxed); // relaxed: flips the bit
}

} // namespace cubby::inline v0::detail::engines::dramhit
