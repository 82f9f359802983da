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

/// The hashes that a walk is after when it follows a bin that has moved: an interval, or the numbers that leave `low`
/// when divided by `high`. It only ever narrows, so a walk through any number of migrations stays as small as the bin.
struct share {
  std::uint64_t low;
  std::uint64_t high;
};

/// All hashes of one bin.
template <bin_mapping Mapping> constexpr share share_of(std::uint64_t number, std::uint64_t bins) noexcept {
  if constexpr (Mapping == bin_mapping::modulo) return {number, bins};
  else return {cpu::divide_high(number, bins), cpu::divide_high(number + 1, bins) - 1};
}
template <bin_mapping Mapping> constexpr bool has_hash(const share& s, std::uint64_t hash) noexcept {
  if constexpr (Mapping == bin_mapping::modulo) return hash % s.high == s.low;
  else return s.low <= hash && hash <= s.high;
}
/// The bins of another index that hold hashes of the share. Sizes under modulo differ by powers of two only.
template <bin_mapping Mapping> constexpr bin_range bins_of(const share& s, std::uint64_t bins) noexcept {
  if constexpr (Mapping == bin_mapping::modulo) {
    return bins <= s.high ? bin_range{s.low % bins, 1, 1} : bin_range{s.low, s.high, bins / s.high};
  } else {
    const std::uint64_t first = map_hash<Mapping>(s.low, bins);
    return {first, 1, map_hash<Mapping>(s.high, bins) - first + 1};
  }
}
/// The part of the share in one of those bins.
template <bin_mapping Mapping>
constexpr share narrow(const share& s, std::uint64_t number, std::uint64_t bins) noexcept {
  const share whole = share_of<Mapping>(number, bins);
  if constexpr (Mapping == bin_mapping::modulo) {
    return bins <= s.high ? s : whole;
  } else {
    return {s.low > whole.low ? s.low : whole.low, s.high < whole.high ? s.high : whole.high};
  }
}

/// Shows what a copy holds of a share; `escape` is what was added to the keys of a side bin.
template <class Policy, class Wanted, class F>
void show_copy(const Policy& policy, const bin_copy& copy, std::uint64_t escape, Wanted wanted, F& f) {
  for (unsigned i = 0; i < copy.count; ++i) {
    const std::uint64_t key = copy.entries[i].first - escape;
    const std::uint64_t value = copy.entries[i].second;
    if (wanted(policy, key, value)) f(key, value);
  }
}

/// Shows `f(key_word, value_word)` the entries of a share of `at`'s successors, wherever they are by now.
template <class Policy, class Threads, class F>
void visit_share(const Policy& policy, const index<Threads>* at, share wanted, F& f) {
  constexpr bin_mapping mapping = Policy::mapping;
  const auto ours = [&](const Policy& p, std::uint64_t key, std::uint64_t value) {
    return has_hash<mapping>(wanted, p.hash_of(key, value));
  };
  for (bin_copy copy;;) {
    at = next_index(*at);
    const bin_range range = bins_of<mapping>(wanted, at->bin_count);
    bool moved = false;
    for (std::uint64_t i = 0; i < range.count; ++i) {
      const std::uint64_t number = range.first + i * range.step;
      if (copy_bin(*at, at->bins[number], copy)) show_copy(policy, copy, 0, ours, f);
      else if (range.count == 1) moved = true;
      else visit_share(policy, at, narrow<mapping>(wanted, number, at->bin_count), f);
    }
    if (!moved) return;
  }
}

/// Weak walk: an entry that is present throughout is shown exactly once, one that comes or goes at most once. No bin
/// is held while `f` runs.
template <class Policy, class Threads, class F> void for_each(const table<Policy, Threads>& t, F& f) {
  const index<Threads>* at = first_index(t);
  const auto all = [](const Policy&, std::uint64_t, std::uint64_t) { return true; };
  bin_copy copy;
  for (std::uint64_t number = 0; number < at->bin_count; ++number) {
    if (copy_bin(*at, at->bins[number], copy)) show_copy(t.policy, copy, 0, all, f);
    else visit_share(t.policy, at, share_of<Policy::mapping>(number, at->bin_count), f);
  }
  while (!copy_bin(*at, at->bins[at->bin_count], copy)) at = next_index(*at);
  show_copy(t.policy, copy, reserved_words, all, f);
}

/// Replaces the first index by a frozen one of the same size; null: no memory.
template <class Policy, class Threads> index<Threads>* freeze(table<Policy, Threads>& t) noexcept {
  for (;;) {
    if (!finish_moves(t)) return nullptr;
    index<Threads>& at = *first_index(t);
    index<Threads>* const made = make_next(t, at, at.bin_count, occasion::snapshot);
    if (made == nullptr) return nullptr;
    // relaxed: only we freeze (shape_lock); if another migration was faster, its index is not frozen
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

} // namespace cubby::inline v0::engines::dlht
