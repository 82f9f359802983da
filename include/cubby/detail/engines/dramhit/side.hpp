// SPDX-License-Identifier: Apache-2.0
// The slots of a side region that many keys share (J5), and which inserts may take one. Each array keeps `side_due` slots for keys
// that move into it. That is at least the number of keys that the previous array can send, because inserts there are counted
// before they take a slot, and are refused once the sum was taken.
#pragma once

#include <cubby/detail/engines/dramhit/table.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// Whether the key of a probe is in the main region. Tuples have no reserved words.
CUBBY_ALWAYS_INLINE bool is_in_main_region(const word_probe& p) noexcept { return !is_reserved(p.word); }
template <class Key> CUBBY_ALWAYS_INLINE bool is_in_main_region(const tuple_probe<Key>&) noexcept { return true; }
/// Whether the key of a probe shares the side region with others.
template <class Policy> CUBBY_ALWAYS_INLINE bool is_in_shared_side(const word_probe& p) noexcept {
  if constexpr (Policy::unique_words) return is_reserved(p.word);
  return false;
}

/// Subtracts a key that was erased or did not take its slot.
inline void leave_side(word_array& a) noexcept {
  (void)a.side_live.fetch_add(~std::uint64_t{0},
                              sync::relaxed); // relaxed: a sum, which may be too high for a while, and never too low
}
/// Adds a key that moves here.
inline void join_side(word_array& a) noexcept {
  (void)a.side_live.fetch_add(1, sync::relaxed); // relaxed: a sum; [count-done] publishes it before it is used
}

/// True: the caller may take a slot, and is counted. False: it must go on to the next array.
inline bool claim_side(word_array& a) noexcept {
  // relaxed: the order of this one word decides whether the claim or the sum of close_side came first
  if ((a.side_live.fetch_add(1, sync::relaxed) & side_closed) == 0) {
    // relaxed: it only hands out numbers
    if (a.side_taken.fetch_add(1, sync::relaxed) < a.side_slots() - a.side_due) return true;
  }
  leave_side(a);
  return false;
}
/// Undoes a claim: another thread has taken the slot.
inline void unclaim_side(word_array& a) noexcept {
  (void)a.side_taken.fetch_add(~std::uint64_t{0},
                               sync::relaxed); // relaxed: too high meanwhile, so that none is missed
  leave_side(a);
}

/// Closes the side region of `a` for inserts, and returns the number of keys that may move out of it: those that are counted, and
/// those that may still move into it. Under the lock of growth.
template <slot_policy Policy>
std::uint64_t close_side(const table<Policy>& t, word_array& a) noexcept {
  if constexpr (!Policy::unique_words) return 0;
  // If `a` is the root, all keys are here. Read first: a key that moves in later is then counted twice, never missed.
  const std::uint64_t to_come = first_array(t) == &a ? 0 : a.side_due;
  // relaxed: see claim_side
  return to_come + a.side_live.fetch_add(side_closed, sync::relaxed);
}
/// Opens the side region again, because there was no memory for the next array.
template <class Policy> void open_side(word_array& a) noexcept {
  if constexpr (Policy::unique_words) (void)a.side_live.fetch_add(side_closed, sync::relaxed); // relaxed: flips the bit
}

} // namespace cubby::inline v0::detail::engines::dramhit
