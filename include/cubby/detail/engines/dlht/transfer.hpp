// SPDX-License-Identifier: Apache-2.0
// The move of a unit from an index to its successor (section 3.2.5). It claims the unit's bins, reserves the space, and captures
// each entry from its slot. It writes the entry into bins that no other thread can reach yet, and publishes them. Any thread may
// move any unit. Other threads wait only for the unit's own bins. The space is reserved before the first capture, so a unit can be
// given back.
#pragma once

#include <cubby/detail/engines/dlht/insert.hpp>

namespace cubby::inline v0::detail::engines::dlht {

inline constexpr std::uint64_t most_sources = 8; // a shrinking unit takes at most this many bins

/// An entry that moves.
template <class Threads> struct moving {
  slot<Threads>* from;
  std::uint64_t hash;
  std::uint64_t target; // the number of its bin in the next index
  std::uint8_t state;   // slot_state::valid or shadow
  std::uint8_t rank;    // the number of earlier entries of the unit with the same target
  bool side;            // from the side bin
};

/// The entries of a unit and their targets. It lies on the stack of the thread that moves the unit.
template <class Threads> struct unit_contents {
  moving<Threads> entries[most_sources * bin_slots];
  unsigned count = 0;
};

/// Claims the bin for this thread. False: another thread has it, or it has moved.
template <class Threads> bool claim_bin(const index<Threads>& at, bin<Threads>& b) noexcept {
  // [probe] acquire: pairs with [commit]
  std::uint64_t h = b.head.load(sync::acquire);
  for (;;) {
    const std::uint64_t state = header::state_of(h);
    if (state == bin_state::in_transfer || state == bin_state::done_transfer) return false;
    // [frozen] acquire: pairs with [unfreeze]
    if (state == bin_state::snapshot && at.frozen.load(sync::acquire) != 0) return false;
    // [claim] acq_rel: pairs with [probe]
    // acquire on failure: pairs with [commit]
    if (b.head.compare_exchange(h, header::with_state(h, bin_state::in_transfer), sync::acq_rel, sync::acquire)) {
      return true;
    }
  }
}

/// Sets claimed bins to their next state, and publishes all that was written before. The first bin comes last, because it stands for
/// the unit (claim_unit): a thread that claims it finds the others free.
template <class Threads> void finish_bins(index<Threads>& at, bin_range range, std::uint64_t state) noexcept {
  for (std::uint64_t i = range.count; i-- > 0;) {
    auto& head = at.bins[range.first + i * range.step].head;
    // relaxed: only its owner changes a claimed header (I5)
    const std::uint64_t h = head.load(sync::relaxed);
    // [moved] release: pairs with [probe]
    head.store(header::with_state(h, state), sync::release);
  }
}

/// Claims all bins of a unit. A thread that has the first one gets all of them, because each thread claims the first one first.
template <class Threads> bool claim_unit(index<Threads>& at, bin_range range) noexcept {
  if (!claim_bin(at, at.bins[range.first])) return false;
  for (std::uint64_t i = 1; i < range.count; ++i) {
    // It fails only while the index of a snapshot is frozen; then the first claim has failed already.
    (void)claim_bin(at, at.bins[range.first + i * range.step]);
  }
  return true;
}

/// The hash of an entry, from the words of its slot. A hidden entry has its key in place of the value.
template <class Policy>
std::uint64_t hash_of_slot(const Policy& policy, std::uint64_t key, std::uint64_t value, bool side) noexcept {
  if (key < reserved_words) key = value;
  return policy.hash_of(side ? key - reserved_words : key, value);
}

/// Lists the entries of claimed bins, and does not change them.
template <class Policy, class Threads>
void list_unit(const Policy& policy, index<Threads>& at, bin_range range, unit_contents<Threads>& load) noexcept {
  load.count = 0;
  for (std::uint64_t i = 0; i < range.count; ++i) {
    bin<Threads>& b = at.bins[range.first + i * range.step];
    // relaxed: this thread's claim has acquired it, and no other thread may change it now (I5)
    const std::uint64_t h = b.head.load(sync::relaxed);
    for (std::uint64_t mask = header::present(h); mask != 0; mask &= mask - 1) {
      const auto number = static_cast<unsigned>(std::countr_zero(mask)) / 2;
      slot<Threads>* const s = slot_at(at, b, number);
      // [value] acquire: pairs with [fill-value]; before the key, because a hidden entry may be shown at this moment
      const std::uint64_t value = s->second.load(sync::acquire);
      // [key] acquire: pairs with [fill]
      const std::uint64_t key = s->first.load(sync::acquire);
      if (key == cleared) continue;
      const bool side = range.first == at.bin_count;
      const auto state = static_cast<std::uint8_t>(header::slot_of(h, number));
      load.entries[load.count++] = {s, hash_of_slot(policy, key, value, side), 0, state, 0, side};
    }
  }
}

/// Assigns targets in `to` and reserves link buckets there. `chained` receives the number of the first one plus one. False: a bin would
/// overflow, or too few link buckets are left.
template <class Policy, class Threads>
bool secure_space(index<Threads>& to, unit_contents<Threads>& load, std::uint64_t& chained) noexcept {
  std::uint64_t needed = 0;
  for (unsigned i = 0; i < load.count; ++i) {
    auto& one = load.entries[i];
    one.target = one.side ? to.bin_count : map_hash<Policy::mapping>(one.hash, to.bin_count);
    unsigned rank = 0;
    for (unsigned j = 0; j < i; ++j) rank += load.entries[j].target == one.target;
    if (rank >= bin_slots) return false;
    one.rank = static_cast<std::uint8_t>(rank);
    needed += (rank == primary_slots ? 1U : 0U) + (rank == primary_slots + link_slots ? 2U : 0U);
  }
  chained = 1;
  if (needed == 0) return true;
  chained = take_links(to, needed);
  // relaxed: a number for plan_growth
  if (chained != 0) (void)to.links_moved.fetch_add(needed, sync::relaxed);
  return chained != 0;
}

/// Captures an entry: from then on no assign or erase of the old slot succeeds. False: the entry was erased meanwhile.
template <class Threads> bool capture(slot<Threads>& from, sync::two_words& entry) noexcept {
  for (;;) {
    // [value] acquire: pairs with [fill-value]
    entry.second = from.second.load(sync::acquire);
    // [key] acquire: pairs with [fill]
    entry.first = from.first.load(sync::acquire);
    if (entry.first == cleared) return false;
    // The cleared key is the paper's transfer key. [fill] acq_rel: pairs with [value]
    if (from.compare_exchange(entry, {cleared, entry.second})) return true;
  }
}

/// Moves listed entries into bins of `to` that no other thread can reach yet, so all stores are relaxed.
template <class Threads>
void put_unit(index<Threads>& to, unit_contents<Threads>& load, std::uint64_t chained,
              std::uint64_t fresh_state) noexcept {
  for (unsigned i = 0; i < load.count; ++i) {
    const auto& one = load.entries[i];
    bin<Threads>& b = to.bins[one.target];
    // relaxed: only this thread has the bin until the source bins are done_transfer; [moved] publishes these stores
    std::uint64_t links = b.links.load(sync::relaxed);
    if (one.rank == primary_slots) links |= chained++;
    if (one.rank == primary_slots + link_slots) {
      links |= chained << 32;
      chained += 2;
    }
    b.links.store(links, sync::relaxed); // relaxed: as above
    sync::two_words entry{};
    if (!capture(*one.from, entry)) continue;
    slot<Threads>* const into = one.rank < primary_slots ? &b.slots[one.rank] : linked_slot(to, links, one.rank);
    into->second.store(entry.second, sync::relaxed);    // relaxed: as above
    into->first.store(entry.first, sync::relaxed);      // relaxed: as above
    const std::uint64_t h = b.head.load(sync::relaxed); // relaxed: as above
    // relaxed: as above
    b.head.store(header::with_slot(header::with_state(h, fresh_state), one.rank, one.state), sync::relaxed);
  }
}

} // namespace cubby::inline v0::detail::engines::dlht
