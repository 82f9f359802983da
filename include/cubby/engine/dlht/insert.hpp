// SPDX-License-Identifier: Apache-2.0
// Insert (section 3.2.2): reserve a slot in the header, fill it, make it valid in the header. Two 8-byte
// compare-and-swaps on one line; uniqueness because both fail when anything in the bin has changed since the search.
#pragma once

#include <cubby/engine/dlht/mutate.hpp>

namespace cubby::inline v0::engines::dlht {

enum class attempt : std::uint8_t { ended, moved, no_room };

/// Searches valid and shadow slots. A shadow slot of an inline table shows `closed` and its key as the value until
/// its commit, which turns (closed, key) into (key, value) at once; value first, key second sees it in either form.
template <class Policy, class Threads, class Probe>
sighting<Threads> search_present(const Policy& policy, const index<Threads>& at, bin<Threads>& b, std::uint64_t h,
                                 const Probe& probe, std::uint64_t word) noexcept {
  const auto matches = [&](std::uint64_t value) { return policy.matches(probe, value); };
  const auto hit = search(at, b, header::present(h), word, matches);
  if (hit || Policy::unique_words) return hit;
  const std::uint64_t shadows = header::present(h) & ~header::valid(h);
  for (std::uint64_t mask = shadows; mask != 0; mask &= mask - 1) {
    const auto number = static_cast<unsigned>(std::countr_zero(mask)) / 2;
    slot<Threads>* const s = slot_at(at, b, number);
    // [value] acquire: pairs with [fill-value]; read before the key, see above
    const std::uint64_t value = s->second.load(sync::acquire);
    // [key] acquire: pairs with [fill]
    const std::uint64_t key = s->first.load(sync::acquire);
    if (key == word || (key == closed && value == word)) return {s, value, number};
  }
  return {};
}

/// A valid slot whose entry is erased but whose eraser has not freed it yet; bin_slots when there is none.
template <class Threads> unsigned find_scrubbed(const index<Threads>& at, bin<Threads>& b, std::uint64_t h) noexcept {
  for (std::uint64_t mask = header::valid(h); mask != 0; mask &= mask - 1) {
    const auto number = static_cast<unsigned>(std::countr_zero(mask)) / 2;
    // [key] acquire: pairs with [fill]
    if (slot_at(at, b, number)->first.load(sync::acquire) == scrubbed) return number;
  }
  return bin_slots;
}

/// Chains the bucket of slot `number` (3 or more) unless it already is; false when no link bucket is left.
template <class Threads> bool chain_bucket(index<Threads>& at, bin<Threads>& b, unsigned number) noexcept {
  const bool second = number >= primary_slots + link_slots;
  const unsigned shift = second ? 32 : 0;
  // [links] acquire: pairs with [chain]
  std::uint64_t links = b.links.load(sync::acquire);
  if (((links >> shift) & low_half) != 0) return true;
  const std::uint64_t count = second ? 2 : 1;
  const std::uint64_t taken = take_links(at, count);
  if (taken == 0) return false;
  for (;;) {
    // [chain] release: pairs with [links]
    // acquire on failure: pairs with [chain]
    if (b.links.compare_exchange(links, links | (taken << shift), sync::release, sync::acquire)) return true;
    if (((links >> shift) & low_half) == 0) continue; // the other half was chained meanwhile
    // Somebody else chained this bucket: give ours back if it still is the last one taken, else it stays unused.
    std::uint64_t end = taken - 1 + count;
    // relaxed: numbers only
    (void)at.links_used.compare_exchange(end, taken - 1, sync::relaxed, sync::relaxed);
    return true;
  }
}

/// A slot for a new entry under header `h`, its bucket chained; bin_slots when the bin or the link array is full.
template <class Threads> unsigned choose_slot(index<Threads>& at, bin<Threads>& b, std::uint64_t h) noexcept {
  const std::uint64_t free = header::invalid(h);
  const unsigned lowest = free != 0 ? static_cast<unsigned>(std::countr_zero(free)) / 2 : bin_slots;
  if (lowest < primary_slots) [[likely]] return lowest;
  const unsigned reusable = find_scrubbed(at, b, h);
  if (reusable != bin_slots) return reusable;
  return lowest != bin_slots && chain_bucket(at, b, lowest) ? lowest : bin_slots;
}

/// An insert that has reserved slot `number` and filled it.
template <class Threads> struct pending {
  index<Threads>* at;
  bin<Threads>* b;
  slot<Threads>* where;
  unsigned number;
  std::uint64_t word;  // stored key word
  std::uint64_t value; // what the caller gave
  std::uint64_t final; // slot_state::valid or shadow
  bool hidden;         // filled with (closed, key) instead of (key, value): a shadow slot that no swap can hit
};

/// Frees the reserved slot of an insert that will not be; its key is scrubbed or closed. In a bin that has moved the
/// header is final, and the scrubbed key alone tells who waits (mutate.hpp, `settle`) that all is decided.
template <class Threads> void withdraw(const pending<Threads>& p) noexcept {
  // [fill] release: pairs with [key]
  p.where->first.store(scrubbed, sync::release);
  for (;;) {
    // [probe] acquire: pairs with [commit]
    std::uint64_t h = p.b->head.load(sync::acquire);
    if (header::state_of(h) == bin_state::done_transfer) return;
    // A mover may give the bin back for want of memory; then the slot must still be freed.
    if (header::state_of(h) == bin_state::in_transfer) wait_for_transfer(*p.b);
    // [free] release: pairs with [probe]
    // relaxed: on failure the loop looks again
    else if (p.b->head.compare_exchange(h, header::with_slot(h, p.number, slot_state::invalid), sync::release,
                                        sync::relaxed)) {
      return;
    }
  }
}

/// Closes a filled slot to further hits and tells the value that it then held; false: an erase has hit it, so the
/// insert took place and its entry is already gone again.
template <class Threads> bool close_slot(const pending<Threads>& p, std::uint64_t& value) noexcept {
  value = p.value;
  if (p.hidden) return true;
  for (;;) {
    // [value] acquire: pairs with [fill-value]
    value = p.where->second.load(sync::acquire);
    // [fill] acq_rel: pairs with [key]
    if (p.where->compare_exchange({p.word, value}, {closed, value})) return true;
    // [key] acquire: pairs with [fill]
    if (p.where->first.load(sync::acquire) == scrubbed) return false;
  }
}

/// An insert from the first index on, without the count of entries and the chores (grow.hpp).
template <class Policy, class Threads, class Probe>
inserted_word place_entry(table<Policy, Threads>& t, seat& who, const Probe& probe, std::uint64_t value,
                          std::uint64_t final);

/// Carries the value of an assign that hit a pending insert to where the key now is; false: the key is nowhere.
template <class Policy, class Threads, class Probe>
bool carry(table<Policy, Threads>& t, seat& who, const Probe& probe, std::uint64_t value) {
  auto replace = [value](std::uint64_t) { return decision{verdict::replace, value}; };
  return mutate(t, who, probe, replace).found;
}

/// The bin was moved under a filled slot: the insert is made anew in the next index, with what assigns may have put.
template <class Policy, class Threads, class Probe>
CUBBY_NEVER_INLINE inserted_word follow_transfer(table<Policy, Threads>& t, seat& who, const Probe& probe,
                                                 const pending<Threads>& p) {
  std::uint64_t value = p.value;
  inserted_word out;
  if (close_slot(p, value)) {
    do {
      out = place_entry(t, who, probe, value, p.final);
    } while (out.outcome == insert_outcome::exists && value != p.value && !carry(t, who, probe, value));
  }
  withdraw(p);
  return out;
}

/// The key was found elsewhere while our slot was filled: withdraws, or carries an assign's value there first.
/// False: the key has vanished again, the slot is open as before, and the insert goes on.
template <class Policy, class Threads, class Probe>
CUBBY_NEVER_INLINE bool resolve(table<Policy, Threads>& t, seat& who, const Probe& probe, const pending<Threads>& p,
                                inserted_word& out) {
  std::uint64_t value = 0;
  if (!close_slot(p, value)) {
    out.outcome = insert_outcome::inserted;
  } else if (value != p.value && !carry(t, who, probe, value)) {
    // [fill] release: pairs with [key]
    p.where->first.store(p.word, sync::release);
    return false;
  }
  withdraw(p);
  return true;
}

/// The second half of an insert whose commit failed because the bin changed.
template <class Policy, class Threads, class Probe>
CUBBY_NEVER_INLINE inserted_word commit_contended(table<Policy, Threads>& t, seat& who, const Probe& probe,
                                                  const pending<Threads>& p, std::uint64_t h) {
  for (;;) {
    if (header::state_of(h) == bin_state::in_transfer) {
      wait_for_transfer(*p.b);
      // [probe] acquire: pairs with [moved]
      h = p.b->head.load(sync::acquire);
      continue;
    }
    if (header::state_of(h) == bin_state::done_transfer) return follow_transfer(t, who, probe, p);
    const auto rival = search_present(t.policy, *p.at, *p.b, h, probe, p.word);
    // relaxed: the acquire loads of the search keep it behind them
    if (rival && p.b->head.load(sync::relaxed) == h) {
      inserted_word out{insert_outcome::exists, rival.value};
      if (resolve(t, who, probe, p, out)) return out;
    } else if (!rival) {
      // Linearization point of a contended insert, [commit] release: pairs with [probe]
      // acquire on failure: pairs with [commit]
      if (p.b->head.compare_exchange(h, header::with_slot(h, p.number, p.final), sync::release, sync::acquire)) {
        return {insert_outcome::inserted, p.value};
      }
      continue;
    }
    // [probe] acquire: pairs with [commit]
    h = p.b->head.load(sync::acquire);
  }
}

/// An insert within one bin whose header `h` was read and is `no_transfer`.
template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE attempt insert_here(table<Policy, Threads>& t, seat& who, const Probe& probe, pending<Threads>& p,
                                        std::uint64_t h, inserted_word& out) {
  for (;;) {
    if (header::state_of(h) != bin_state::no_transfer) return attempt::moved;
    const auto rival = search_present(t.policy, *p.at, *p.b, h, probe, p.word);
    if (rival) {
      // Linearization point of a refused insert: this read. relaxed: the acquire loads before keep it behind them.
      const std::uint64_t now = p.b->head.load(sync::relaxed);
      if (now == h) {
        out = {insert_outcome::exists, rival.value};
        return attempt::ended;
      }
      // [probe] acquire: pairs with [commit]
      h = p.b->head.load(sync::acquire);
      continue;
    }
    p.number = choose_slot(*p.at, *p.b, h);
    if (p.number == bin_slots) return attempt::no_room;
    const std::uint64_t reserved = header::with_slot(h, p.number, slot_state::filling);
    // [reserve] acq_rel: pairs with [probe]; from here on the slot's words are ours
    // acquire on failure: pairs with [commit]
    if (p.b->head.compare_exchange(h, reserved, sync::acq_rel, sync::acquire)) {
      h = reserved;
      break;
    }
  }
  p.where = slot_at(*p.at, *p.b, p.number);
  // Both releases: a reader that sees either word also sees the header change before it, and looks again.
  // [fill-value] release: pairs with [value]
  // [fill] release: pairs with [key]
  p.where->second.store(p.hidden ? p.word : p.value, sync::release);
  p.where->first.store(p.hidden ? closed : p.word, sync::release);
  // Linearization point of an insert, [commit] release: pairs with [probe]
  // acquire on failure: pairs with [commit]
  if (p.b->head.compare_exchange(h, header::with_slot(h, p.number, p.final), sync::release, sync::acquire)) [[likely]] {
    out = {insert_outcome::inserted, p.value};
  } else {
    out = commit_contended(t, who, probe, p, h);
  }
  return attempt::ended;
}

} // namespace cubby::inline v0::engines::dlht
