// SPDX-License-Identifier: Apache-2.0
// Shadow inserts (section 3.2.2, Transactions): an entry that reserves its key and is hidden until its commit. Until then the slot of
// an inline table shows (owned, key), which no late assign or erase can match. The commit makes the slot valid and then shows (key,
// value). Only the owner of the reservation, and transfers, change the slot.
#pragma once

#include <cubby/detail/engines/dlht/grow.hpp>

namespace cubby::inline v0::detail::engines::dlht {

/// The reservation's slot in a bin under header `h`: the one among the slots in `mask` that shows `shown` (inline tables) or the
/// record of the probe.
template <class Threads>
seen_slot<Threads> search_owned(const index<Threads>& at, bin<Threads>& b, std::uint64_t mask,
                                sync::two_words shown) noexcept {
  return search(at, b, mask, shown.first, [&](std::uint64_t value) { return value == shown.second; });
}

/// Sets the state of the shadow slot to `final` and its contents to `next`, each at most once, in the index that has the bin by then.
/// An abort (`aborting`) clears the key first, so that an invalid slot never shows a key. A commit makes the slot valid first (I1).
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
      // A transfer does not move a cleared slot. Then the abort has ended.
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

/// The contents of a shadow slot.
template <class Policy> sync::two_words shown_in_shadow(const word_probe& probe, std::uint64_t value) noexcept {
  const std::uint64_t word = stored_word(probe.word);
  return Policy::unique_words ? sync::two_words{word, value} : sync::two_words{owned, word};
}

/// Makes visible the entry that `shadow_insert` has hidden. Never fails. Lock-free except for a bin in transfer.
template <class Policy, class Threads>
void shadow_commit(table<Policy, Threads>& t, thread_record& who, const word_probe& probe,
                   std::uint64_t value) noexcept {
  end_shadow(t, probe, shown_in_shadow<Policy>(probe, value), {stored_word(probe.word), value}, false);
  count_entries(t, who, 1);
  maintenance(t);
}

/// Removes the entry that `shadow_insert` has hidden. Never fails. Lock-free except for a bin in transfer.
template <class Policy, class Threads>
void shadow_abort(table<Policy, Threads>& t, const thread_record& who, const word_probe& probe,
                  std::uint64_t value) noexcept {
  const sync::two_words shown = shown_in_shadow<Policy>(probe, value);
  end_shadow(t, probe, shown, {cleared, shown.second}, true);
  if (t.places.is_bounded()) t.places.give(who.id());
}

} // namespace cubby::inline v0::detail::engines::dlht
