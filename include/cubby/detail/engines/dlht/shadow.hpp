// SPDX-License-Identifier: Apache-2.0
// Shadow inserts (section 3.2.2, Transactions): an entry that holds its key but is hidden until it is committed.
// The slot of an inline table shows (owned, key) until then, which no stalled assign or erase can hit; the commit makes
// it valid and then shows (key, value). Only the reservation's owner acts on its slot, and transfers.
#pragma once

#include <cubby/detail/engines/dlht/grow.hpp>

namespace cubby::inline v0::detail::engines::dlht {

/// Our slot in a bin under header `h`: of the slots in `mask`, the one that shows `shown` (inline tables) or the
/// probe's record.
template <class Threads>
seen_slot<Threads> search_owned(const index<Threads>& at, bin<Threads>& b, std::uint64_t mask,
                                sync::two_words shown) noexcept {
  return search(at, b, mask, shown.first, [&](std::uint64_t value) { return value == shown.second; });
}

/// Brings our shadow slot to `final` and what it shows to `next`; each at most once, wherever the bin may be by then.
/// `aborting` clears the key first, so that an invalid slot never shows anything; a commit makes valid first (invariant I1).
template <class Policy, class Threads>
void end_shadow(table<Policy, Threads>& t, const word_probe& probe, sync::two_words shown, sync::two_words next,
                bool aborting) noexcept {
  bool state_set = false;
  bool words_set = shown == next;
  for (index<Threads>* at = first_index(t); !state_set || !words_set;) {
    bin<Threads>& b = bin_of<Policy>(*at, probe);
    // [probe] acquire: pairs with [commit]
    std::uint64_t h = b.head.load(sync::acquire);
    if (header::state_of(h) != bin_state::no_transfer) {
      pass_on(at, b, h);
      continue;
    }
    const std::uint64_t shadows = header::present(h) & ~header::valid(h);
    const auto mine = search_owned(*at, b, state_set ? header::valid(h) : shadows, words_set ? next : shown);
    if (!mine) {
      // A cleared slot is not taken along by a transfer: then the abort has ended.
      // relaxed: the acquire loads of the search keep it behind them
      if (aborting && words_set && b.head.load(sync::relaxed) == h) return;
      continue;
    }
    if (aborting && !words_set) {
      // [fill] acq_rel: pairs with [key]
      words_set = mine.where->compare_exchange(shown, next);
    } else if (!state_set) {
      const std::uint64_t final = aborting ? slot_state::invalid : slot_state::valid;
      // [commit] release: pairs with [probe]; in record tables the linearization point of a commit
      // relaxed: on failure the loop looks again
      state_set = b.head.compare_exchange(h, header::with_slot(h, mine.number, final), sync::release, sync::relaxed);
    } else {
      // Linearization point of a commit in an inline table, [fill] acq_rel: pairs with [key]
      words_set = mine.where->compare_exchange(shown, next);
    }
  }
}

/// What a shadow slot shows while it is one.
template <class Policy> sync::two_words shown_in_shadow(const word_probe& probe, std::uint64_t value) noexcept {
  const std::uint64_t word = stored_word(probe.word);
  return Policy::unique_words ? sync::two_words{word, value} : sync::two_words{owned, word};
}

/// Shows the entry that `shadow_insert` has hidden. Never fails. Lock-free but for a bin in transfer.
template <class Policy, class Threads>
void shadow_commit(table<Policy, Threads>& t, thread_record& who, const word_probe& probe,
                   std::uint64_t value) noexcept {
  end_shadow(t, probe, shown_in_shadow<Policy>(probe, value), {stored_word(probe.word), value}, false);
  t.entries.add(who.id(), 1);
  maintenance(t);
}

/// Removes the entry that `shadow_insert` has hidden. Never fails. Lock-free but for a bin in transfer.
template <class Policy, class Threads>
void shadow_abort(table<Policy, Threads>& t, const thread_record& who, const word_probe& probe,
                  std::uint64_t value) noexcept {
  const sync::two_words shown = shown_in_shadow<Policy>(probe, value);
  end_shadow(t, probe, shown, {cleared, shown.second}, true);
  if (t.places.is_bounded()) t.places.give(who.id());
}

} // namespace cubby::inline v0::detail::engines::dlht
