// SPDX-License-Identifier: Apache-2.0
// The strong snapshot, which the paper does not have: it holds all level segments. The point in time is that at which it holds the last one. It
// costs two compare-and-swaps a slot.
#pragma once

#include <cubby/detail/engines/seph/hold.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// Holds the leaf of each hash, from the first to the last.
template <class Policy> void hold_all(table<Policy>& t) noexcept {
  for_each_leaf(t, [&](level_segment& first, std::uint64_t) {
    // it may split before it can be held: then its parts are held
    const std::uint64_t last =
        first.prefix + (first.level == 0 ? 0 : std::uint64_t{1} << (hash_bits - first.level)) - 1;
    for (std::uint64_t hash = first.prefix;;) {
      level_segment& x = *leaf_of(t, hash);
      if (!hold(t, x)) {
        sync::backoff wait;
        resolve(t, x, wait);
        continue;
      }
      const std::uint64_t end = x.prefix + (x.level == 0 ? 0 : std::uint64_t{1} << (hash_bits - x.level)) - 1;
      if (end == last) return;
      hash = end + 1;
    }
  });
}

/// Inside a guard: `begin(count)` may refuse it; then `sink(key word, value word)` gets each entry. Changes wait while both run, so these
/// must not call the table.
template <class Policy, class Begin, class Sink> bool snapshot(table<Policy>& t, Begin& begin, Sink& sink) {
  t.structure_lock.lock();
  hold_all(t);
  std::size_t count = 0;
  for_each_leaf(t, [&](level_segment& x, std::uint64_t) {
    for_each_slot(t, x, [&](slot& at) {
      if (shows_item<Policy>(at.load(sync::relaxed))) ++count; // relaxed: held
    });
  });
  const bool wanted = begin(count);
  if (wanted) for_each(t, sink);
  for_each_leaf(t, [&](level_segment& x, std::uint64_t) { end_hold(t, x); });
  unlock_structure(t);
  return wanted;
}

} // namespace cubby::inline v0::detail::engines::seph
