// SPDX-License-Identifier: Apache-2.0
// A hold of a level segment: changes in it wait, and lookups read its marked slots. Snapshots and merges hold, under the lock of the structure,
// so that there is one holder at a time.
#pragma once

#include <cubby/detail/engines/seph/reorganise.hpp>
#include <cubby/detail/engines/seph/scan.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// Holds a leaf. False: it is a leaf no longer.
template <class Policy> bool hold(table<Policy>& t, level_segment& x) noexcept {
  std::uint64_t leaf = next_word::leaf;
  // [install] acq_rel: pairs with [next]
  // relaxed: a failed attempt reads nothing
  if (!x.next.compare_exchange(leaf, next_word::held, sync::acq_rel, sync::relaxed)) return false;
  for_each_slot(t, x, [&](slot& at) { (void)freeze_whole(t, at); });
  return true;
}
/// Ends a hold: the marks go first, so that who finds the leaf again finds it without marks, or looks once more.
template <class Policy> void end_hold(table<Policy>& t, level_segment& x) noexcept {
  for_each_slot(t, x, [](slot& at) {
    std::uint64_t word = at.load(sync::relaxed); // relaxed: as below
    // relaxed, both: nothing changes but the flag, and perhaps that of a dirty slot
    while (!at.compare_exchange(word, word & ~slot_word::mark, sync::relaxed, sync::relaxed)) {
    }
  });
  // [end-hold] release: pairs with [next]
  x.next.store(next_word::leaf, sync::release);
}

} // namespace cubby::inline v0::detail::engines::seph
