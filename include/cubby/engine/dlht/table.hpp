// SPDX-License-Identifier: Apache-2.0
// The state of a DLHT table, and what every verb does first: find the bin, pass on when it has moved.
// Plain struct; verbs are free functions in the files beside this one.
#pragma once

#include <bit>
#include <utility>

#include <cubby/core/counter.hpp>
#include <cubby/core/epoch.hpp>
#include <cubby/core/places.hpp>
#include <cubby/core/retired.hpp>
#include <cubby/engine/dlht/index.hpp>
#include <cubby/platform/thread.hpp>

namespace cubby::inline v0::engines::dlht {

template <class Policy, class Threads> struct table {
  using index_type = index<Threads>;

  table(const options& chosen, Policy slots)
      : policy(std::move(slots)), settings(chosen), retired(home), bag(policy, home) {}

  // Read by every verb, written only when a migration begins or ends.
  alignas(cpu::cache_line) sync::word<index_type*, Threads> root; // oldest index whose entries have not all moved
  sync::word<std::uint32_t, Threads> chores;                      // bits of namespace chore
  std::uint32_t lasting_chores = 0;                               // those that are set for good
  const domain_ref home = domain_of_table<Threads>();             // whose seats keep alive what the table shows
  place_stock<Threads> places;                                    // of a `fixed` table: `settings.capacity`
  Policy policy;
  options settings;
  std::uint64_t floor_bins = 1; // shrinking stops here: what `settings.capacity` asked for

  alignas(cpu::cache_line) small_lock<Threads> grow_lock; // creation of successors
  small_lock<Threads> snapshot_lock;                      // one snapshot, reserve or shrink_to_fit at a time
  retired_arrays<index_type, Threads> retired;            // indexes that wait to be freed
  sync::word<std::uint64_t, Threads> ticks;               // rations looks at all seats
  sync::word<std::uint64_t, Threads> erase_ticks;         // rations looks at the size
  sync::word<std::uint64_t, Threads> growths;
  sync::word<std::uint64_t, Threads> shrinks;
  sync::word<std::uint64_t, Threads> rebuilds;

  retire_bag<Policy, Threads> bag;
  striped_counter<Threads> entries;
  background_worker worker; // idle unless growth is `background`
};

/// The bin of `probe` in `at`.
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE bin<Threads>& bin_of(const index<Threads>& at, const word_probe& probe) noexcept {
  return at.bins[bin_number<Policy>(at, probe)];
}

/// The index where a new request begins.
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE index<Threads>* first_index(const table<Policy, Threads>& t) noexcept {
  // [root] seq_cst: pairs with [advance-root]; the first load of a verb stays behind what its thread did before (A.1)
  return t.root.load(sync::seq_cst);
}

template <class Threads> index<Threads>* next_index(const index<Threads>& at) noexcept {
  // [next] acquire: pairs with [publish-next]
  return at.next.load(sync::acquire);
}

/// Waits until whoever moves the bin is done with it (or has given it back).
template <class Threads> CUBBY_NEVER_INLINE void wait_for_transfer(const bin<Threads>& b) noexcept {
  sync::backoff wait;
  // [probe] acquire: pairs with [moved]
  while (header::state_of(b.head.load(sync::acquire)) == bin_state::in_transfer) wait.pause();
}

/// A bin in state `snapshot`: waits for the snapshot to be taken, then opens the bin for updates.
template <class Threads>
CUBBY_NEVER_INLINE void thaw(const index<Threads>& at, bin<Threads>& b, std::uint64_t h) noexcept {
  sync::backoff wait;
  // [frozen] acquire: pairs with [unfreeze]
  while (at.frozen.load(sync::acquire) != 0) wait.pause();
  // [thaw] acq_rel: pairs with [probe]
  // relaxed: on failure the caller looks again
  (void)b.head.compare_exchange(h, header::with_state(h, bin_state::no_transfer), sync::acq_rel, sync::relaxed);
}

/// What an update does with a header that is not `no_transfer`: afterwards it looks again, perhaps one index further.
template <class Threads>
CUBBY_NEVER_INLINE void pass_on(index<Threads>*& at, bin<Threads>& b, std::uint64_t h) noexcept {
  const std::uint64_t state = header::state_of(h);
  if (state == bin_state::in_transfer) wait_for_transfer(b);
  else if (state == bin_state::done_transfer) at = next_index(*at);
  else thaw(*at, b, h);
}

/// An entry that a search met.
template <class Threads> struct sighting {
  slot<Threads>* where = nullptr;
  std::uint64_t value = 0;
  unsigned number = 0;
  explicit operator bool() const noexcept { return where != nullptr; }
};

/// Searches the slots in `mask` (form of header::valid) for `word`; `matches(value)` settles equal words. What it
/// returns is only true if the header is still the one that the mask came from.
template <class Threads, class Matches>
CUBBY_ALWAYS_INLINE sighting<Threads> search(const index<Threads>& at, bin<Threads>& b, std::uint64_t mask,
                                             std::uint64_t word, Matches matches) noexcept {
  for (; mask != 0; mask &= mask - 1) {
    const auto number = static_cast<unsigned>(std::countr_zero(mask)) / 2;
    slot<Threads>* const s = slot_at(at, b, number);
    // [key] acquire: pairs with [fill]
    if (s->first.load(sync::acquire) != word) continue;
    // [value] acquire: pairs with [fill-value]
    const std::uint64_t value = s->second.load(sync::acquire);
    if (matches(value)) return {s, value, number};
  }
  return {};
}

} // namespace cubby::inline v0::engines::dlht
