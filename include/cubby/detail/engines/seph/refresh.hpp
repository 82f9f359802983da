// SPDX-License-Identifier: Apache-2.0
// Foreseers that have few bits left get new ones, in the background (section 3.2.2). Right answers do not need it: a split that finds no bits
// reads the item.
#pragma once

#include <cubby/detail/engines/seph/scan.hpp>
#include <cubby/detail/engines/seph/structure.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// Gives the stale slots of a half at `depth` a new foreseer.
template <class Policy> void refresh_half(table<Policy>& t, slot* half, unsigned depth) noexcept {
  const unsigned at = window(known_bits(t, depth));
  for (std::uint64_t i = 0; i < buckets_of_half(t) * table<Policy>::slots_a_bucket; ++i) {
    // [slot] acquire: pairs with [put-slot], and with [put-mark]
    std::uint64_t word = half[i].load(sync::acquire);
    if (!shows_item<Policy>(word) || (word & slot_word::stale) == 0 || slot_word::is_marked(word)) continue;
    const std::uint64_t pointer = slot_word::pointer(word);
    const std::uint64_t fresh =
        slot_word::make(pointer, foreseer_of(hash_at(t.policy, pointer), at)) | (word & slot_word::dirty);
    // relaxed: the item is one that was published before; a slot that has changed has a foreseer of its own
    (void)half[i].compare_exchange(word, fresh, sync::relaxed, sync::relaxed);
  }
}
template <class Policy> void refresh(table<Policy>& t) noexcept {
  t.stale.store(0, sync::relaxed); // relaxed: a hint
  for_each_leaf(t, [&](level_segment& x, std::uint64_t) {
    // relaxed, all: hints
    if (x.stale.load(sync::relaxed) == 0 || t.closing.load(sync::relaxed) != 0) return;
    x.stale.store(0, sync::relaxed); // relaxed: as above
    refresh_half(t, x.lower, x.level);
    for (slot* const half : x.higher) refresh_half(t, half, x.level + 1);
  });
}

/// The work of the thread of a table that grows in the background.
template <class Policy> void background_work(void* of) noexcept {
  auto& t = *static_cast<table<Policy>*>(of);
  thread_record* const mine = registry::local(*t.home);
  tidy(t);
  for (bool more = true; more && t.closing.load(sync::relaxed) == 0;) { // relaxed: only a request to stop early
    if (!t.structure_lock.try_lock()) break;
    more = grow_directory(t);
    unlock_structure(t);
  }
  // relaxed: a hint
  if (mine == nullptr || t.stale.load(sync::relaxed) == 0) return;
  const thread_pin stay(*mine);
  refresh(t);
}

} // namespace cubby::inline v0::detail::engines::seph
