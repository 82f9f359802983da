// SPDX-License-Identifier: Apache-2.0
// Shadow inserts (section 3.2.2, Transactions): an entry that holds its key but is hidden until it is committed.
// The slot of an inline table shows (closed, key) while hidden, which no stalled assign or erase can hit; committing
// turns it into (key, value) at once and then makes it valid.
#pragma once

#include <cubby/engine/dlht/grow.hpp>

namespace cubby::inline v0::engines::dlht {

/// The hidden entry of `probe` under header `h`, which is ours: nobody else changes it but a transfer.
template <class Policy, class Threads, class Probe>
sighting<Threads> search_shadow(const Policy& policy, const index<Threads>& at, bin<Threads>& b, std::uint64_t h,
                                const Probe& probe, std::uint64_t word) noexcept {
  return search_present(policy, at, b, h & ~(header::valid(h) << 1), probe, word);
}

/// Ends a shadow insert: `open` makes the slot ready, then the header gives it `final`. False: the entry is no longer
/// hidden (a stalled erase took it in the instant between opening and commit: it was committed, then erased).
template <class Policy, class Threads, class Probe, class Open>
bool end_shadow(table<Policy, Threads>& t, const Probe& probe, std::uint64_t final, Open open) noexcept {
  const std::uint64_t word = stored_word(probe.word);
  bool opened = false;
  for (index<Threads>* at = first_index(t);;) {
    bin<Threads>& b = bin_of<Policy>(*at, probe);
    // [probe] acquire: pairs with [commit]
    std::uint64_t h = b.head.load(sync::acquire);
    if (header::state_of(h) != bin_state::no_transfer) {
      pass_on(at, b, h);
      continue;
    }
    const auto mine = search_shadow(t.policy, *at, b, h, probe, word);
    if (!mine) {
      // relaxed: the acquire loads of the search keep it behind them
      if (b.head.load(sync::relaxed) == h) return opened;
      continue;
    }
    if (!open(*mine.where, mine.value)) continue;
    opened = true;
    for (;;) {
      // Linearization point of a commit, [commit] release: pairs with [probe]
      // acquire on failure: pairs with [commit]
      if (b.head.compare_exchange(h, header::with_slot(h, mine.number, final), sync::release, sync::acquire)) return true;
      if (header::state_of(h) != bin_state::no_transfer) break; // moved or moving: find it again over there
    }
  }
}

template <class Policy, class Threads, class Probe>
void shadow_commit(table<Policy, Threads>& t, seat& who, const Probe& probe, std::uint64_t value) noexcept {
  const std::uint64_t word = stored_word(probe.word);
  const bool hidden = !Policy::unique_words;
  const auto open = [&](slot<Threads>& s, std::uint64_t) {
    // [key] acquire: pairs with [fill]
    if (!hidden || s.first.load(sync::acquire) == word) return true;
    // [fill] acq_rel: pairs with [key]
    return s.compare_exchange({closed, word}, {word, value});
  };
  (void)end_shadow(t, probe, slot_state::valid, open);
  t.entries.add(who.id(), 1);
  chores(t);
}

template <class Policy, class Threads, class Probe>
void shadow_abort(table<Policy, Threads>& t, const Probe& probe, std::uint64_t value) noexcept {
  const std::uint64_t word = stored_word(probe.word);
  const bool hidden = !Policy::unique_words;
  const sync::two_words shown = hidden ? sync::two_words{closed, word} : sync::two_words{word, value};
  const auto scrub = [&](slot<Threads>& s, std::uint64_t) {
    // [fill] acq_rel: pairs with [key]
    return s.compare_exchange(shown, {scrubbed, shown.second});
  };
  (void)end_shadow(t, probe, slot_state::invalid, scrub);
}

} // namespace cubby::inline v0::engines::dlht
