// SPDX-License-Identifier: Apache-2.0
// Growing, shrinking and rebuilding (section 3.2.5 and beyond): who creates the successor, who moves what, and when
// the old index is let go. Each index knows its own successor, so a straggler in A finds its way over B to C however
// late it is. Policies: cooperative (the paper), incremental (bounded work for each insert), background.
#pragma once

#include <cubby/engine/dlht/transfer.hpp>

namespace cubby::inline v0::engines::dlht {

/// A `fixed` table has at least a link bucket for so many bins: 1.5 entries a bin need one for 15, and a rebuild helps when
/// they need no more than half.
inline constexpr std::uint64_t most_bins_per_link_when_fixed = 4;

/// Link buckets for `bins` bins; small indexes get as many as bins, because their bins vary more.
inline std::uint64_t links_for(std::uint64_t bins, const options& chosen) noexcept {
  std::uint64_t per = chosen.bins_per_link == 0 ? 1 : chosen.bins_per_link;
  if (chosen.growth == growth_policy::fixed && per > most_bins_per_link_when_fixed) per = most_bins_per_link_when_fixed;
  const std::uint64_t least = bins < 64 ? bins : 64;
  const std::uint64_t links = bins / per > least ? bins / per : least;
  return links < 3 ? 3 : links;
}

/// Bins for `entries` without growth: 1.5 entries a bin, the paper's 100 M keys in 67 M bins. At this load 6 % of the
/// entries lie in link buckets (docs/performance.md). Rounded up to m * 2^k with 8 <= m < 16, so that it can be halved.
inline std::uint64_t bins_for(std::uint64_t entries) noexcept {
  const std::uint64_t wanted = entries - entries / 3;
  if (wanted <= 8) return 8;
  const auto shift = static_cast<unsigned>(std::bit_width(wanted - 1)) - 4;
  const std::uint64_t unit = std::uint64_t{1} << shift;
  return (wanted + unit - 1) / unit * unit;
}

/// The largest factor by which a table grows by itself.
inline constexpr std::uint64_t most_growth = 64;

/// Factor of the paper, but that 4 ends at 256 K bins instead of 64 M: a table of some tens of millions must not be
/// left at a quarter of its load.
inline std::uint64_t growth_factor(std::uint64_t bins, const options& chosen) noexcept {
  if (chosen.growth_factor >= 2) return std::bit_ceil(chosen.growth_factor);
  return bins < 4096 ? 8 : bins < (std::uint64_t{1} << 18) ? 4 : 2;
}

template <class Policy, class Threads> std::uint64_t live_entries(const table<Policy, Threads>& t) noexcept {
  const std::int64_t total = t.entries.total();
  return total < 0 ? 0 : static_cast<std::uint64_t>(total);
}

/// Frees retired indexes whose time has come, at most `slice` bytes in one call.
template <class Policy, class Threads>
void release_indexes(table<Policy, Threads>& t, std::size_t slice = release_slice) noexcept {
  if constexpr (!Threads::is_shared) {
    if (!t.bag.alone()) return; // a walk further out may be in one of them
  }
  lock_scope hold(t.retired.lock);
  t.retired.release(slice);
}

/// Whether all units of `at` have moved.
template <class Threads> bool is_complete(const index<Threads>& at) noexcept {
  const index<Threads>* const next = next_index(at);
  if (next == nullptr) return false;
  // [done] acquire: pairs with [count-done]
  return at.done.load(sync::acquire) == unit_count(at.bin_count, next->bin_count) + 1;
}

/// Tells inserts and erases that there is something to move or to free.
template <class Policy, class Threads> void note_chore(table<Policy, Threads>& t) noexcept {
  t.chores.store(t.lasting_chores | chore::move_or_free,
                 sync::relaxed); // relaxed: a hint; they look at the root themselves
}

/// Lets the root step over every index that is complete, and retires those.
template <class Policy, class Threads> void advance_root(table<Policy, Threads>& t) noexcept {
  for (;;) {
    index<Threads>* const old = first_index(t);
    if (!is_complete(*old)) return;
    index<Threads>* expected = old;
    // [advance-root] release: pairs with [root]
    // relaxed: somebody else stepped; the loop looks again
    if (!t.root.compare_exchange(expected, next_index(*old), sync::release, sync::relaxed)) continue;
    index<Threads>& now_first = *next_index(*old);
    // The mover may have gone to sleep over the last units of the old index, which somebody else held, and whoever that
    // is need not insert or erase anything after it.
    if (t.settings.growth == growth_policy::background && next_index(now_first) != nullptr) t.worker.notify();
    lock_scope hold(t.retired.lock);
    t.retired.add(*old);
    note_chore(t); // inserts may have cleared it since the root stepped on
  }
}

template <class Threads> void add_done(index<Threads>& at, std::uint64_t units) noexcept {
  // [count-done] acq_rel: pairs with [done]; whoever completes has seen every mover's work
  (void)at.done.fetch_add(units, sync::acq_rel);
}

template <class Policy, class Threads>
void count_done(table<Policy, Threads>& t, index<Threads>& at, std::uint64_t units) noexcept {
  if (units == 0) return;
  add_done(at, units);
  if (is_complete(at)) advance_root(t);
}

/// Why there is to be another index: for the entries or by the user's wish; for a bin that is too full; for a snapshot.
enum class occasion : std::uint8_t { load, crowd, snapshot };

/// Creates the successor of `at` with `bins` bins unless it has one; null: no memory.
template <class Policy, class Threads>
index<Threads>* make_next(table<Policy, Threads>& t, index<Threads>& at, std::uint64_t bins,
                          occasion why = occasion::load) noexcept {
  lock_scope hold(t.grow_lock);
  if (auto* const there = next_index(at)) return there;
  index<Threads>* const made = make_index<Threads>(bins, links_for(bins, t.settings));
  if (made == nullptr) return nullptr;
  const bool was_asked = bins > at.bin_count && why == occasion::load;
  if (!was_asked && at.asked_bins < bins) made->asked_bins = at.asked_bins;
  made->frozen.store(why == occasion::snapshot ? 1 : 0, sync::relaxed); // relaxed: [publish-next] publishes it
  auto& kind = bins > at.bin_count ? t.growths : bins < at.bin_count ? t.shrinks : t.rebuilds;
  (void)kind.fetch_add(1, sync::relaxed); // relaxed: a statistic
  note_chore(t);
  // [publish-next] release: pairs with [next]
  at.next.store(made, sync::release);
  if (t.settings.growth == growth_policy::background) t.worker.notify();
  return made;
}

/// By how much to grow when a successor has no room for a unit of `at`. A table that shrinks goes back no further than
/// to the size that it had. Otherwise each bin fits, and link buckets are what is missing: inserts have used them up, which
/// a `fixed` table mends at its size.
template <class Threads>
std::uint64_t further_factor(const index<Threads>& at, const index<Threads>& to, const options& chosen) noexcept {
  if (to.bin_count < at.bin_count) return 2;
  return chosen.growth == growth_policy::fixed ? 1 : growth_factor(to.bin_count, chosen);
}

/// Tells sweeps, which may be past it already, of a unit that was given back; its bins must be free by now.
template <class Threads> void mark_missed(index<Threads>& at) noexcept {
  // A swap, so that the marks of several movers are one release sequence. [give-back] release: pairs with [sweep-again]
  (void)at.missed.exchange(1, sync::release);
}

enum class move_result : std::uint8_t { moved, busy, no_memory };

/// The unit's bins over there are empty and ours: counts them as moved on. True, so that the caller remembers.
template <class Threads> bool pass_unit_on(index<Threads>& to, const bin_range& targets) noexcept {
  finish_bins(to, targets, bin_state::done_transfer);
  add_done(to, targets.count);
  return true;
}

/// Moves one unit of `at` to the nearest successor with room for it. On no_memory the unit works on where it is.
template <class Policy, class Threads>
move_result move_unit(table<Policy, Threads>& t, index<Threads>& at, std::uint64_t unit) noexcept {
  index<Threads>* to = next_index(at);
  const std::uint64_t units = unit_count(at.bin_count, to->bin_count);
  const bin_range sources = bins_of_unit<Policy::mapping>(at.bin_count, units, unit);
  if (!claim_unit(at, sources)) return move_result::busy;
  cargo<Threads> load;
  list_unit(t.policy, at, sources, load);
  bool passed_one = false;
  // Not while bins are held: the root's step takes a lock that `histogram` may hold while it waits for these bins.
  const auto release_sources = [&](std::uint64_t state) {
    finish_bins(at, sources, state);
    if (passed_one) advance_root(t);
  };
  for (std::uint64_t chained = 0;;) {
    const bin_range targets = bins_of_unit<Policy::mapping>(to->bin_count, units, unit);
    // relaxed: these bins are ours alone until the sources are done (see place_unit)
    const std::uint64_t h = to->bins[targets.first].head.load(sync::relaxed);
    const bool passed_before = header::state_of(h) == bin_state::done_transfer;
    if (!passed_before && secure_room<Policy>(*to, load, chained)) {
      // relaxed: set before [publish-next], cleared only when this unit has moved
      const bool hold = to->frozen.load(sync::relaxed) != 0;
      const std::uint64_t fresh = hold ? bin_state::snapshot : bin_state::no_transfer;
      if (hold) to->bins[targets.first].head.store(header::with_state(0, fresh), sync::relaxed); // relaxed: as above
      place_unit(*to, load, chained, fresh);
      release_sources(bin_state::done_transfer);
      return move_result::moved;
    }
    // No room there: the unit goes further.
    const occasion why = to->bin_count < at.bin_count ? occasion::crowd : occasion::load;
    index<Threads>* const further = make_next(t, *to, to->bin_count * further_factor(at, *to, t.settings), why);
    if (further == nullptr) {
      release_sources(bin_state::no_transfer);
      mark_missed(at);
      return move_result::no_memory;
    }
    if (!passed_before) passed_one = pass_unit_on(*to, targets);
    to = further;
  }
}

/// Asks memory for what the move of units [first, last) will touch: bins there and here, then chained buckets. Of a unit that
/// spreads over more bins than growth by itself gives it, after a large `reserve`, few are touched, and only the first asked for.
template <class Policy, class Threads>
void prefetch_units(const index<Threads>& at, const index<Threads>& to, std::uint64_t first,
                    std::uint64_t last) noexcept {
  const std::uint64_t units = unit_count(at.bin_count, to.bin_count);
  const auto for_bins = [&](const index<Threads>& of, auto&& act) {
    for (std::uint64_t unit = first; unit < last; ++unit) {
      const bin_range range = bins_of_unit<Policy::mapping>(of.bin_count, units, unit);
      const std::uint64_t count = range.count < most_growth ? range.count : most_growth;
      for (std::uint64_t i = 0; i < count; ++i) act(of.bins[range.first + i * range.step]);
    }
  };
  for_bins(at, [](const bin<Threads>& b) { prefetch_line(&b); });
  for_bins(to, [](const bin<Threads>& b) { prefetch_line(&b); });
  for_bins(at, [&](const bin<Threads>& b) {
    const std::uint64_t links = b.links.load(sync::relaxed); // relaxed: a hint
    if ((links & low_half) != 0) prefetch_line(&at.links[(links & low_half) - 1]);
    if ((links >> 32) != 0) prefetch_line(&at.links[(links >> 32) - 1]);
  });
}

/// Units prefetched together: their lines fit the first-level cache beside what the caller works on.
inline constexpr std::uint64_t sweep_group = 16;

/// Moves up to `count` units that no sweep has taken yet; false when there is none left to take.
template <class Policy, class Threads>
bool sweep(table<Policy, Threads>& t, index<Threads>& at, std::uint64_t count) noexcept {
  const std::uint64_t total = unit_count(at.bin_count, next_index(at)->bin_count) + 1;
  // relaxed: shares out numbers only
  if (at.cursor.load(sync::relaxed) >= total) {
    std::uint32_t one = 1;
    // Whoever clears the mark restarts the sweep. [sweep-again] acquire: pairs with [give-back]
    // relaxed: on failure there is nothing to sweep
    if (!at.missed.compare_exchange(one, 0, sync::acquire, sync::relaxed)) {
      advance_root(t); // the last movers of two indexes can each miss what the other has just counted
      return false;
    }
    // A swap, so that two restarts are one release sequence.
    // [restart-sweep] acq_rel: pairs with [take-units]; they find the bins as free as we do
    (void)at.cursor.exchange(0, sync::acq_rel);
  }
  // [take-units] acquire: pairs with [restart-sweep]
  const std::uint64_t first = at.cursor.fetch_add(count, sync::acquire);
  const std::uint64_t last = first + count < total ? first + count : total;
  std::uint64_t moved = 0;
  bool failed = false;
  for (std::uint64_t unit = first; unit < last; ++unit) {
    if ((unit - first) % sweep_group == 0) {
      const std::uint64_t end = unit + sweep_group < last ? unit + sweep_group : last;
      prefetch_units<Policy>(at, *next_index(at), unit, end);
    }
    const move_result result = move_unit(t, at, unit);
    moved += result == move_result::moved;
    failed |= result == move_result::no_memory;
  }
  count_done(t, at, moved);
  return first < total && !failed;
}

/// Sweeps until nothing is left to take or memory ends. Other threads may still be moving their last units.
template <class Policy, class Threads> void sweep_all(table<Policy, Threads>& t) noexcept {
  for (;;) {
    index<Threads>* const at = first_index(t);
    if (next_index(*at) == nullptr || !sweep(t, *at, t.settings.chunk_bins)) return;
  }
}

} // namespace cubby::inline v0::engines::dlht
