// SPDX-License-Identifier: Apache-2.0
// The strong snapshot (section 3.4.4): a migration to a frozen index of the same size, which holds back updates until all bins are in
// it.
#pragma once

#include <cubby/detail/engines/dlht/grow.hpp>
#include <cubby/detail/engines/dlht/scan.hpp>

namespace cubby::inline v0::detail::engines::dlht {

/// Replaces the first index by a frozen one of the same size; null: no memory.
template <class Policy, class Threads> index<Threads>* freeze(table<Policy, Threads>& t) noexcept {
  for (;;) {
    if (!finish_moves(t)) return nullptr;
    index<Threads>* const at = own_first_index(t, least_bins);
    if (at == nullptr) return nullptr;
    index<Threads>* const made = make_next(t, *at, at->bin_count, occasion::snapshot);
    if (made == nullptr) return nullptr;
    // relaxed: only this thread freezes (shape_lock); if another migration was faster, its index is not frozen
    if (made->frozen.load(sync::relaxed) != 0) return made;
  }
}

/// A strong snapshot. It contains each update that ended before the call, and none that begins after it. Finds go on; updates wait.
/// `begin(most)` gets an upper bound of the number of entries and may refuse; then `sink(key_word, value_word)` gets each entry. Both
/// run while updates wait, so they must not call the table. False: refused, or no memory.
/// The point in time is the end of the migration into the frozen index. A late assign can change an old slot only before that slot is
/// captured, so the copy contains it; and no update follows before the thaw.
template <class Policy, class Threads, class Begin, class Sink>
bool snapshot(table<Policy, Threads>& t, Begin& begin, Sink& sink) {
  lock_scope alone(t.shape_lock);
  index<Threads>* const frozen = freeze(t);
  if (frozen == nullptr) return false;
  const bool complete = finish_moves(t);
  std::size_t most = 0;
  auto count = [&](std::uint64_t, std::uint64_t) { ++most; };
  if (complete) for_each(t, count);
  const bool wanted = complete && begin(most);
  if (wanted) for_each(t, sink);
  // [unfreeze] release: pairs with [frozen]
  frozen->frozen.store(0, sync::release);
  return wanted;
}

} // namespace cubby::inline v0::detail::engines::dlht
