// SPDX-License-Identifier: Apache-2.0
// Growing, shrinking and rebuilding (section 3.2.5 and beyond): which thread creates the successor, which threads move what,
// and when the old index is freed. Each index has its own successor. So a thread that is late in index A goes over B to C.
// Policies: cooperative (the paper), incremental (bounded work for each insert), background.
#pragma once

#include <cubby/detail/engines/dlht/transfer.hpp>

namespace cubby::inline v0::detail::engines::dlht {

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
/// entries lie in link buckets (docs/performance/raw.md). Rounded up to m * 2^k with 8 <= m < 16, so that it can be halved.
inline std::uint64_t bins_for(std::uint64_t entries) noexcept {
  const std::uint64_t wanted = entries - entries / 3;
  if (wanted <= least_bins) return least_bins;
  const auto shift = static_cast<unsigned>(std::bit_width(wanted - 1)) - 4;
  const std::uint64_t unit = std::uint64_t{1} << shift;
  return (wanted + unit - 1) / unit * unit;
}

/// The largest factor by which a table grows by itself.
inline constexpr std::uint64_t most_growth = 64;

/// The paper's factor, but that 4 ends at 256 K bins instead of 64 M. A table of some tens of millions must not be left
/// at a quarter of its load.
inline std::uint64_t growth_factor(std::uint64_t bins, const options& chosen) noexcept {
  if (chosen.growth_factor >= 2) return std::bit_ceil(chosen.growth_factor);
  return bins < 4096 ? 8 : bins < (std::uint64_t{1} << 18) ? 4 : 2;
}

template <class Policy, class Threads> std::uint64_t live_entries(const table<Policy, Threads>& t) noexcept {
  const std::int64_t total = t.entries.total(t.first_entries);
  return total < 0 ? 0 : static_cast<std::uint64_t>(total);
}

/// Whether `live` entries can need all link buckets of `at` with a good hash. Where a bin has n entries on average, at most
/// n^4 / 24 of the bins have four or more, and need a link bucket.
template <class Threads> bool is_loaded(const index<Threads>& at, std::uint64_t live) noexcept {
  const double each = static_cast<double>(live) / static_cast<double>(at.bin_count);
  return each * each * each * each * static_cast<double>(at.bin_count) >= 24 * static_cast<double>(at.link_count);
}

/// The reason for another index: the number of entries or the user's wish, a bin that is too full, or a snapshot.
enum class occasion : std::uint8_t { load, crowd, snapshot };

/// `crowd_entries` of the successor of `at`.
template <class Policy, class Threads>
std::uint64_t crowd_entries_of(const table<Policy, Threads>& t, const index<Threads>& at, std::uint64_t bins,
                               occasion why) noexcept {
  if (bins == at.bin_count) return at.crowd_entries;
  return bins > at.bin_count && why == occasion::crowd ? live_entries(t) : 0;
}

/// The first index. A table that shares the empty one gets an index of its own, with `bins` bins. Null: no memory. Under a pin.
template <class Policy, class Threads>
CUBBY_NEVER_INLINE index<Threads>* own_first_index(table<Policy, Threads>& t, std::uint64_t bins) noexcept {
  index<Threads>* at = first_index(t);
  if (!at->is_of_empty_tables()) return at;
  index<Threads>* const made = make_index<Threads>(bins, links_for(bins, t.settings));
  if (made == nullptr) return nullptr;
  // A find that has read the older root misses where it read it. [first-index] seq_cst: pairs with [root]
  // [root] seq_cst on failure: pairs with [first-index]; another thread was faster
  if (t.root.compare_exchange(at, made, sync::seq_cst, sync::seq_cst)) return made;
  free_array(made);
  return at;
}

/// Creates the successor of `at` with `bins` bins unless it has one; null: no memory.
template <class Policy, class Threads>
index<Threads>* make_next(table<Policy, Threads>& t, index<Threads>& at, std::uint64_t bins,
                          occasion why = occasion::load) noexcept {
  return generations::create_next(t, at, [&]() -> index<Threads>* {
    index<Threads>* const made = make_index<Threads>(bins, links_for(bins, t.settings));
    if (made == nullptr) return nullptr;
    const std::uint64_t asked = at.asked_bins.load(sync::relaxed);  // relaxed: raised under the lock
    if (asked < bins) made->asked_bins.store(asked, sync::relaxed); // relaxed: [publish-next] publishes it
    made->crowd_entries = crowd_entries_of(t, at, bins, why);
    made->frozen.store(why == occasion::snapshot ? 1 : 0, sync::relaxed); // relaxed: [publish-next] publishes it
    return made;
  });
}

/// Whether a move to an index of the same size gives link buckets back. Eight entries in one bin need three, no entries need more.
template <class Threads> bool links_are_waste(const index<Threads>& at, std::uint64_t live) noexcept {
  // relaxed: a recent figure
  return at.links_moved.load(sync::relaxed) * 2 <= at.link_count || live <= at.link_count * 2;
}

/// By how much to grow when a successor has no space for a unit of `at`. A table that shrinks goes back no further than
/// to the size that it had. Otherwise each bin fits, and link buckets are what is missing: inserts have used them up, which
/// the same size mends, in a `fixed` table always.
template <class Policy, class Threads>
std::uint64_t further_factor(const table<Policy, Threads>& t, const index<Threads>& at,
                             const index<Threads>& to) noexcept {
  if (to.bin_count < at.bin_count) return 2;
  if (t.settings.growth == growth_policy::fixed) return 1;
  const std::uint64_t live = live_entries(t);
  if (is_loaded(to, live)) return growth_factor(to.bin_count, t.settings);
  return links_are_waste(to, live) ? 1 : 2;
}

enum class move_result : std::uint8_t { moved, busy, no_memory };

/// The unit's bins in the successor are empty and belong to this thread: counts them as moved on. True, for the caller
/// to note.
template <class Threads> bool pass_unit_on(index<Threads>& to, const bin_range& targets) noexcept {
  finish_bins(to, targets, bin_state::done_transfer);
  add_done(to, targets.count);
  return true;
}

/// Moves one unit of `at` to the nearest successor with space for it. On no_memory the unit works on where it is.
template <class Policy, class Threads>
move_result move_unit(table<Policy, Threads>& t, index<Threads>& at, std::uint64_t unit) noexcept {
  index<Threads>* to = next_index(at);
  const std::uint64_t units = unit_count(at.bin_count, to->bin_count);
  const bin_range sources = bins_of_unit<Policy::mapping>(at.bin_count, units, unit);
  if (!claim_unit(at, sources)) return move_result::busy;
  unit_contents<Threads> load;
  list_unit(t.policy, at, sources, load);
  bool passed_one = false;
  // Not while this thread holds bins: the step of the root takes a lock that `histogram` may hold while it waits for
  // these bins.
  const auto release_sources = [&](std::uint64_t state) {
    finish_bins(at, sources, state);
    if (passed_one) advance_root(t);
  };
  for (std::uint64_t chained = 0;;) {
    const bin_range targets = bins_of_unit<Policy::mapping>(to->bin_count, units, unit);
    // relaxed: these bins are ours alone until the sources are done (see put_unit)
    const std::uint64_t h = to->bins[targets.first].head.load(sync::relaxed);
    const bool passed_before = header::state_of(h) == bin_state::done_transfer;
    if (!passed_before && secure_space<Policy>(*to, load, chained)) {
      // relaxed: set before [publish-next], cleared only when this unit has moved
      const bool hold = to->frozen.load(sync::relaxed) != 0;
      const std::uint64_t fresh = hold ? bin_state::snapshot : bin_state::no_transfer;
      if (hold) to->bins[targets.first].head.store(header::with_state(0, fresh), sync::relaxed); // relaxed: as above
      put_unit(*to, load, chained, fresh);
      release_sources(bin_state::done_transfer);
      return move_result::moved;
    }
    // No space there: the unit moves to a later index.
    const occasion why = to->bin_count < at.bin_count ? occasion::crowd : occasion::load;
    index<Threads>* const further = make_next(t, *to, to->bin_count * further_factor(t, at, *to), why);
    if (further == nullptr) {
      release_sources(bin_state::no_transfer);
      mark_missed(at);
      return move_result::no_memory;
    }
    if (!passed_before) passed_one = pass_unit_on(*to, targets);
    to = further;
  }
}

/// Asks memory for what the move of units [first, last) will touch: bins there and here, then chained buckets. After
/// a large `reserve` a unit spreads over many bins and fills few. Then memory is asked for the first one alone.
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
inline constexpr std::uint64_t prefetched_units = 16;

/// Moves the units that no other thread holds. One that another thread holds is counted by that thread.
template <class Policy, class Threads>
generations::moved_parts move_range(table<Policy, Threads>& t, index<Threads>& at,
                                    generations::unit_range units) noexcept {
  generations::moved_parts out;
  for (std::uint64_t unit = units.first; unit < units.last; ++unit) {
    if ((unit - units.first) % prefetched_units == 0) {
      const std::uint64_t end = unit + prefetched_units < units.last ? unit + prefetched_units : units.last;
      prefetch_units<Policy>(at, *next_index(at), unit, end);
    }
    const move_result result = move_unit(t, at, unit);
    out.count += result == move_result::moved;
    out.ended |= result == move_result::no_memory;
  }
  return out;
}

} // namespace cubby::inline v0::detail::engines::dlht
