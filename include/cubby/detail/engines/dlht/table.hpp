// SPDX-License-Identifier: Apache-2.0
// The state of a DLHT table, and what every verb does first: it finds the bin, and goes on to the next index if the bin
// has moved. The state is a plain struct; the verbs are free functions in the files beside this one.
#pragma once

#include <bit>
#include <utility>

#include <cubby/detail/core/counter.hpp>
#include <cubby/detail/core/epoch.hpp>
#include <cubby/detail/core/migration.hpp>
#include <cubby/detail/engines/dlht/index.hpp>
#include <cubby/detail/engines/dlht/options.hpp>

namespace cubby::inline v0::detail::engines::dlht {

using generations::add_done, generations::advance_root, generations::count_done;
using generations::maintenance, generations::finish_moves, generations::mark_missed, generations::move_rest;

template <class Policy, class Threads>
struct table : generations::table_state<index<Threads>, Policy, options, Threads, growing_counter<Threads>> {
  using base = generations::table_state<index<Threads>, Policy, options, Threads, growing_counter<Threads>>;
  static constexpr bool every_write_cooperates = false; // the inserts alone that find no space in their bin
  table(const options& chosen, Policy slots) : base(chosen, std::move(slots)), bag(this->policy, this->home) {}
  /// Moves an idle table.
  table(table&& from) noexcept : base(std::move(from)), bag(this->policy, this->home) {
    first_entries.take_over(from.first_entries);
    generations::take_over(*this, from);
  }

  [[no_unique_address]] bag_for<Policy, Threads> bag;
  first_count<Threads> first_entries; // of the counter `entries`
};

template <class Policy, class Threads>
CUBBY_OUTLINED void count_entries_further(table<Policy, Threads>& t, std::int64_t amount) noexcept {
  t.entries.add_shared(t.first_entries, amount);
}
/// Counts entries that have come or, below 0, gone.
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE void count_entries(table<Policy, Threads>& t, const thread_record& who,
                                       std::int64_t amount) noexcept {
  if constexpr (!Threads::is_shared) t.first_entries.add_alone(amount);
  else if (!t.entries.add_alone(who.cell_in_stripes(), amount)) [[unlikely]] count_entries_further(t, amount);
}

/// The bin of `probe` in `at`.
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE bin<Threads>& bin_of(const index<Threads>& at, const word_probe& probe) noexcept {
  return at.bins[bin_number<Policy>(at, probe)];
}

/// The index where a new request begins.
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE index<Threads>* first_index(const table<Policy, Threads>& t) noexcept {
  return generations::first(t);
}

template <class Threads> CUBBY_ALWAYS_INLINE index<Threads>* next_index(const index<Threads>& at) noexcept {
  return generations::next_of(at);
}
/// All of an index has moved to this one, which adds nothing to what generations::advance_root does.
template <class Policy, class Threads> void becomes_first(table<Policy, Threads>&, index<Threads>&) noexcept {}

/// Waits until the thread that moves the bin is done with it (or has given it back).
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

/// What an update does with a header that is not `no_transfer`. Afterwards it looks again, perhaps in the next index.
template <class Threads>
CUBBY_NEVER_INLINE void pass_on(index<Threads>*& at, bin<Threads>& b, std::uint64_t h) noexcept {
  const std::uint64_t state = header::state_of(h);
  if (state == bin_state::in_transfer) wait_for_transfer(b);
  else if (state == bin_state::done_transfer) at = next_index(*at);
  else thaw(*at, b, h);
}

/// An entry that a search met.
template <class Threads> struct seen_slot {
  slot<Threads>* where = nullptr;
  std::uint64_t value = 0;
  unsigned number = 0;
  explicit operator bool() const noexcept { return where != nullptr; }
};

/// Searches the slots in `mask` (form of header::valid) for `word`; `matches(value)` decides when words are equal. What it
/// returns is only true if the header is still the one that the mask came from.
template <class Threads, class Matches>
CUBBY_ALWAYS_INLINE seen_slot<Threads> search(const index<Threads>& at, bin<Threads>& b, std::uint64_t mask,
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

} // namespace cubby::inline v0::detail::engines::dlht
