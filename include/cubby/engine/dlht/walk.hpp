// SPDX-License-Identifier: Apache-2.0
// Iteration (section 3.4.4): weak, bin by bin, following bins that have moved; and the strong snapshot, a migration to
// the same size that holds updates back until every bin is in its frozen successor.
#pragma once

#include <cubby/engine/dlht/grow.hpp>

namespace cubby::inline v0::engines::dlht {

/// One bin's entries as they were under one header.
struct bin_copy {
  sync::two_words entries[bin_slots];
  unsigned count = 0;
};

/// Copies a bin's valid entries; false: the bin has moved. Waits for a bin in transfer.
template <class Threads> bool copy_bin(const index<Threads>& at, bin<Threads>& b, bin_copy& out) noexcept {
  for (;;) {
    // [probe] acquire: pairs with [commit]
    const std::uint64_t h = b.head.load(sync::acquire);
    if (header::state_of(h) == bin_state::done_transfer) return false;
    if (header::state_of(h) == bin_state::in_transfer) {
      wait_for_transfer(b);
      continue;
    }
    out.count = 0;
    for (std::uint64_t mask = header::valid(h); mask != 0; mask &= mask - 1) {
      const slot<Threads>* const s = slot_at(at, b, static_cast<unsigned>(std::countr_zero(mask)) / 2);
      // [key] acquire: pairs with [fill]
      const std::uint64_t key = s->first.load(sync::acquire);
      // [value] acquire: pairs with [fill-value]
      if (key >= reserved_words) out.entries[out.count++] = {key, s->second.load(sync::acquire)};
    }
    // relaxed: the acquire loads above keep it behind them
    if (b.head.load(sync::relaxed) == h) return true;
  }
}

/// Which entries of a successor's bin a walk is after: those that came from bin `number` of `at`, and so on outwards.
template <class Threads> struct origin {
  const index<Threads>* at;
  std::uint64_t number;
  const origin* outer;
};

template <class Policy, class Threads>
bool comes_from(const origin<Threads>* from, std::uint64_t hash, bool side) noexcept {
  for (; from != nullptr; from = from->outer) {
    const std::uint64_t number = side ? from->at->bin_count : map_hash<Policy::mapping>(hash, from->at->bin_count);
    if (number != from->number) return false;
  }
  return true;
}

/// Shows `f(key_word, value_word)` the entries of one bin, wherever they are by now. No bin is held while `f` runs.
template <class Policy, class Threads, class F>
void visit_bin(const Policy& policy, const index<Threads>& at, std::uint64_t number, const origin<Threads>* from,
               F& f) {
  bin_copy copy;
  const bool side = number == at.bin_count;
  if (copy_bin(at, at.bins[number], copy)) {
    for (unsigned i = 0; i < copy.count; ++i) {
      const std::uint64_t key = copy.entries[i].first - (side ? reserved_words : 0);
      const std::uint64_t value = copy.entries[i].second;
      if (from == nullptr || comes_from<Policy>(from, policy.hash_of(key, value), side)) f(key, value);
    }
    return;
  }
  const index<Threads>& next = *next_index(at);
  const std::uint64_t units = unit_count(at.bin_count, next.bin_count);
  const std::uint64_t unit = unit_of_bin<Policy::mapping>(at.bin_count, units, number);
  const bin_range targets = bins_of_unit<Policy::mapping>(next.bin_count, units, unit);
  const origin<Threads> here{&at, number, from};
  for (std::uint64_t i = 0; i < targets.count; ++i) visit_bin(policy, next, targets.first + i * targets.step, &here, f);
}

/// Weak walk: an entry that is present throughout is shown exactly once, one that comes or goes at most once.
template <class Policy, class Threads, class F> void for_each(const table<Policy, Threads>& t, F& f) {
  const index<Threads>& at = *first_index(t);
  for (std::uint64_t number = 0; number <= at.bin_count; ++number) {
    visit_bin<Policy, Threads>(t.policy, at, number, nullptr, f);
  }
}

/// Replaces the first index by a frozen one of the same size; null: no memory.
template <class Policy, class Threads> index<Threads>* freeze(table<Policy, Threads>& t) noexcept {
  for (;;) {
    if (!finish_migrations(t)) return nullptr;
    index<Threads>& at = *first_index(t);
    index<Threads>* const made = make_next(t, at, at.bin_count, true);
    if (made == nullptr) return nullptr;
    // relaxed: only we freeze (snapshot_lock); if another migration was faster, its index is not frozen
    if (made->frozen.load(sync::relaxed) != 0) return made;
  }
}

/// Strong snapshot. Every update that ended before is in it, none that begins after; finds go on throughout, updates
/// wait. `begin(most)` is told how many entries there can be at most and may refuse; then `sink(key_word, value_word)`
/// receives each. Both run while updates wait: they must not call the table. False: refused or no memory.
/// The point in time is the completion of the migration into the frozen index: a late assign can hit an old slot only
/// before that slot is captured, so every update that counts is captured, and none follows before the thaw.
template <class Policy, class Threads, class Begin, class Sink>
bool snapshot(table<Policy, Threads>& t, Begin& begin, Sink& sink) {
  lock_scope alone(t.snapshot_lock);
  index<Threads>* const frozen = freeze(t);
  if (frozen == nullptr) return false;
  const bool complete = finish_migrations(t);
  std::size_t most = 0;
  auto count = [&](std::uint64_t, std::uint64_t) { ++most; };
  if (complete) for_each(t, count);
  const bool wanted = complete && begin(most);
  if (wanted) for_each(t, sink);
  // [unfreeze] release: pairs with [frozen]
  frozen->frozen.store(0, sync::release);
  return wanted;
}

} // namespace cubby::inline v0::engines::dlht
