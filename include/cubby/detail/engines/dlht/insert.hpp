// SPDX-License-Identifier: Apache-2.0
// Insert (section 3.2.2): reserve a slot in the header, fill it, make it valid in the header. A key stays unique
// because both swaps fail if anything in the bin has changed since the search. Beyond the paper, inline tables fill in
// the key hidden and show the entry last, with one 16-byte swap: README.md, "What we changed", says which race that
// closes.
#pragma once

#include <cubby/detail/engines/dlht/find.hpp>

namespace cubby::inline v0::detail::engines::dlht {

enum class attempt : std::uint8_t { ended, again, wait, no_space, no_place };

/// The state of a key in a bin: absent; here (an entry, or hidden in a shadow entry); or about to be shown by an
/// insert.
enum class presence : std::uint8_t { absent, here, hidden };
struct present_key {
  presence how = presence::absent;
  std::uint64_t value = 0;
  unsigned reusable = bin_slots; ///< a slot whose entry is erased, met on the way; only when absent
};

/// What one slot that is valid or shadow says about a key, in inline tables. The value is read before the key, so that
/// the step from (mark, key) to (key, value) is seen in one of its two forms.
template <class Threads>
CUBBY_ALWAYS_INLINE presence presence_in(const slot<Threads>& s, std::uint64_t word, std::uint64_t& value,
                                         bool& reusable) noexcept {
  // [value] acquire: pairs with [fill-value]
  value = s.second.load(sync::acquire);
  // [key] acquire: pairs with [fill]
  const std::uint64_t key = s.first.load(sync::acquire);
  if (key == word) return presence::here;
  reusable = key == cleared;
  if (key >= reserved_words || key == cleared || value != word) [[likely]]
    return presence::absent;
  return key == pending ? presence::hidden : presence::here;
}

/// The same in record tables. It reads the key first, because a value beside a cleared key may be a record that was
/// freed.
template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE presence presence_in(const Policy& policy, const slot<Threads>& s, const Probe& probe,
                                         std::uint64_t word, std::uint64_t& value, bool& reusable) noexcept {
  // [key] acquire: pairs with [fill]
  const std::uint64_t key = s.first.load(sync::acquire);
  reusable = key == cleared;
  if (key != word) return presence::absent;
  // [value] acquire: pairs with [fill-value]
  value = s.second.load(sync::acquire);
  return policy.matches(probe, value) ? presence::here : presence::absent;
}

/// Searches valid and shadow slots; true only if the header is still the one that `h` came from.
template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE present_key search_present(const Policy& policy, const index<Threads>& at, bin<Threads>& b,
                                               std::uint64_t h, const Probe& probe, std::uint64_t word) noexcept {
  present_key out;
  for (std::uint64_t mask = header::present(h); mask != 0; mask &= mask - 1) {
    const auto number = static_cast<unsigned>(std::countr_zero(mask)) / 2;
    const slot<Threads>& s = *slot_at(at, b, number);
    bool reusable = false;
    if constexpr (Policy::unique_words) out.how = presence_in(policy, s, probe, word, out.value, reusable);
    else out.how = presence_in(s, word, out.value, reusable);
    if (out.how != presence::absent) return out;
    // A cleared shadow slot still belongs to the reservation that is being given up.
    if (reusable && out.reusable == bin_slots && header::slot_of(h, number) == slot_state::valid) [[unlikely]]
      out.reusable = number;
  }
  return out;
}

/// Whether a primary slot of an inline table's bin may show `word`, or is about to.
template <class Threads> CUBBY_ALWAYS_INLINE bool may_show(const slot<Threads>& s, std::uint64_t word) noexcept {
  // [key] acquire: pairs with [fill]
  const std::uint64_t key = s.first.load(sync::acquire);
  cpu::part_conditions();
  if (key == word) return true;
  cpu::part_conditions();
  static_assert(owned == pending + 1);
  return key - pending <= 1; // pending, or owned: an insert, or the commit of a reservation, is about to show its key
}

/// A slot in the first line of a bin that an insert may take, or null, and the header that says it is being filled. If `step` is
/// added to that header, it says that the slot is valid.
template <class Threads> struct first_line_slot {
  slot<Threads>* where = nullptr;
  std::uint64_t filling = 0;
  std::uint64_t step = 0;
};

/// Where in the first line of an inline table's bin with the plain header `h` the absent key `word` can be put. Null: nowhere, or
/// the key is there, or something is about to show one.
template <class Threads>
CUBBY_ALWAYS_INLINE first_line_slot<Threads> free_slot_for(bin<Threads>& b, std::uint64_t h,
                                                           std::uint64_t word) noexcept {
  if (may_show(b.slots[0], word) || may_show(b.slots[1], word) || may_show(b.slots[2], word)) return {};
  if (const std::uint64_t unused = header::unused_primary(h); unused != 0) [[likely]] {
    const unsigned bit = cpu::lowest_bit(unused);
    const std::uint64_t step = (std::uint64_t{1} << bit) | header::version_step;
    return {slot_of_bit(b, bit), h + step, step};
  }
  // relaxed, all: they were read with acquire above, and a cleared key stays so under this header (I3)
  const auto used_0 = static_cast<unsigned>(b.slots[0].first.load(sync::relaxed) != cleared);
  const auto used_1 = static_cast<unsigned>(b.slots[1].first.load(sync::relaxed) != cleared);
  const unsigned n = used_0 + (used_0 & used_1);                  // without a branch: which slot is free is a coin toss
  if (b.slots[n].first.load(sync::relaxed) != cleared) return {}; // relaxed: as above
  const std::uint64_t bit = std::uint64_t{1} << (2 * n);
  return {&b.slots[n], h - bit + header::version_step, bit + header::version_step};
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
    // Another thread has chained this bucket. The new one is given back if it still is the last one taken, else it
    // stays unused.
    std::uint64_t end = taken - 1 + count;
    // relaxed: numbers only
    (void)at.links_used.compare_exchange(end, taken - 1, sync::relaxed, sync::relaxed);
    return true;
  }
}

/// A slot for a new entry under header `h`, its bucket chained; bin_slots when the bin or the link array is full.
/// `reusable` is a slot whose entry is erased, or bin_slots.
template <class Threads>
CUBBY_ALWAYS_INLINE unsigned choose_slot(index<Threads>& at, bin<Threads>& b, std::uint64_t h,
                                         unsigned reusable) noexcept {
  const std::uint64_t free = header::invalid(h);
  const unsigned lowest = free != 0 ? static_cast<unsigned>(std::countr_zero(free)) / 2 : bin_slots;
  if (lowest < reusable && lowest < primary_slots) return lowest;
  if (reusable != bin_slots) return reusable;
  return lowest != bin_slots && chain_bucket(at, b, lowest) ? lowest : bin_slots;
}

/// An insert on its way through the indexes.
template <class Threads> struct new_entry {
  index<Threads>* at;
  bin<Threads>* b;
  std::uint64_t word;  // stored key word
  std::uint64_t value; // what the caller gave
  std::uint64_t final; // slot_state::valid or shadow
  bool placed = true;  // has a place, or the table has no bound
  bool shown = false;  // inserted_word::shown
};

/// Fills the slot that this insert has reserved. Both stores release: a reader that sees either word also sees the
/// change of the header that reserved the slot, and looks again.
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE void fill(slot<Threads>& s, const new_entry<Threads>& a) noexcept {
  const std::uint64_t mark = a.final == slot_state::shadow ? owned : pending;
  // [fill-value] release: pairs with [value]
  s.second.store(Policy::unique_words ? a.value : a.word, sync::release);
  // [fill] release: pairs with [key]
  s.first.store(Policy::unique_words ? a.word : mark, sync::release);
}

/// Gives a filled slot back, unless its bin has moved and the slot does not matter any more.
template <class Threads> void withdraw(bin<Threads>& b, slot<Threads>& s, unsigned number) noexcept {
  // [fill] release: pairs with [key]
  s.first.store(cleared, sync::release);
  for (;;) {
    // [probe] acquire: pairs with [commit]
    std::uint64_t h = b.head.load(sync::acquire);
    if (header::state_of(h) == bin_state::done_transfer) return;
    // A mover may give the bin back for want of memory; then the slot must still be freed.
    if (header::state_of(h) == bin_state::in_transfer) wait_for_transfer(b);
    // [free] release: pairs with [probe]
    // relaxed: on failure the loop looks again
    else if (b.head.compare_exchange(h, header::with_slot(h, number, slot_state::invalid), sync::release,
                                     sync::relaxed)) {
      return;
    }
  }
}

/// Shows the hidden entry of this insert, in the index to which transfers have moved it. It was put into `s` of `a.b`. No
/// other thread shows it, so its slot is not reused while it is hidden.
template <class Policy, class Threads>
CUBBY_NEVER_INLINE void show_moved(const word_probe& probe, const new_entry<Threads>& a) noexcept {
  index<Threads>* at = a.at;
  for (;;) {
    bin<Threads>& b = bin_of<Policy>(*at, probe);
    // [probe] acquire: pairs with [commit]
    const std::uint64_t h = b.head.load(sync::acquire);
    if (header::state_of(h) != bin_state::no_transfer) {
      pass_on(at, b, h);
      continue;
    }
    const auto mine = search(*at, b, header::valid(h), pending, [&](std::uint64_t value) { return value == a.word; });
    // Linearization point as in `show`. [fill] acq_rel: pairs with [key]
    if (mine && mine.where->compare_exchange({pending, a.word}, {a.word, a.value})) return;
  }
}

template <class Policy, class Threads>
CUBBY_NEVER_INLINE void show_further(index<Threads>& at, bin<Threads>& b, std::uint64_t hash, std::uint64_t word,
                                     std::uint64_t value) noexcept {
  show_moved<Policy>(word_probe{hash, word}, new_entry<Threads>{&at, &b, word, value, slot_state::valid});
}

template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE void show(const word_probe& probe, const new_entry<Threads>& a, slot<Threads>& s) noexcept {
  if constexpr (Policy::unique_words) return;
  if (a.final == slot_state::shadow) return;
  // Linearization point of an insert into an inline table, [fill] acq_rel: pairs with [key]
  if (!s.compare_exchange({pending, a.word}, {a.word, a.value})) show_moved<Policy>(probe, a);
}

/// The filled slot could not be committed at once. Commits it under a later header, or withdraws it because the key is
/// there by now (`again` finds it) or the bin has moved.
template <class Policy, class Threads, class Probe>
CUBBY_NEVER_INLINE attempt commit_contended(const Policy& policy, const Probe& probe, const new_entry<Threads>& a,
                                            slot<Threads>& s, unsigned number, std::uint64_t h) noexcept {
  for (;;) {
    if (header::state_of(h) == bin_state::in_transfer) {
      wait_for_transfer(*a.b);
      // [probe] acquire: pairs with [moved]
      h = a.b->head.load(sync::acquire);
      continue;
    }
    const bool moved = header::state_of(h) == bin_state::done_transfer;
    if (moved || search_present(policy, *a.at, *a.b, h, probe, a.word).how != presence::absent) {
      withdraw(*a.b, s, number);
      return attempt::again;
    }
    // [commit] release: pairs with [probe]; in record tables the linearization point of a contended insert
    // acquire on failure: pairs with [commit]
    if (a.b->head.compare_exchange(h, header::with_slot(h, number, a.final), sync::release, sync::acquire)) {
      show<Policy>(probe, a, s);
      return attempt::ended;
    }
  }
}

/// Takes a slot of the bin, if need be one whose entry is erased, and puts the entry there; its key is absent under `h`.
template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE attempt put_entry(const Policy& policy, const Probe& probe, new_entry<Threads>& a, std::uint64_t h,
                                      unsigned reusable) noexcept {
  const unsigned number = choose_slot(*a.at, *a.b, h, reusable);
  if (number == bin_slots) return attempt::no_space;
  const std::uint64_t reserved = header::with_slot(h, number, slot_state::filling);
  // [reserve] acq_rel: pairs with [probe]; from here on the slot's words are ours
  // relaxed: on failure the caller looks again
  if (!a.b->head.compare_exchange(h, reserved, sync::acq_rel, sync::relaxed)) return attempt::again;
  h = reserved;
  slot<Threads>& s = *slot_at(*a.at, *a.b, number);
  if constexpr (Policy::unique_words) a.shown = true;
  fill<Policy>(s, a);
  // [commit] release: pairs with [probe]; in record tables the linearization point of an insert
  // acquire on failure: pairs with [commit]
  if (!a.b->head.compare_exchange(h, header::with_slot(h, number, a.final), sync::release, sync::acquire)) {
    return commit_contended(policy, probe, a, s, number, h);
  }
  show<Policy>(probe, a, s);
  return attempt::ended;
}

/// An insert within one bin whose header `h` was read and is `no_transfer`. `wait`: another insert of the same key has
/// been decided and is about to be shown. `no_place`: the key was absent, and the insert needs a place to go on.
template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE attempt insert_here(const Policy& policy, const Probe& probe, new_entry<Threads>& a,
                                        std::uint64_t h, inserted_word& out) noexcept {
  const auto there = search_present(policy, *a.at, *a.b, h, probe, a.word);
  if (there.how == presence::absent) [[likely]] {
    if (!a.placed) [[unlikely]]
      return attempt::no_place;
    out = {.outcome = insert_outcome::inserted, .word = a.value};
    return put_entry(policy, probe, a, h, there.reusable);
  }
  if (there.how == presence::hidden) return attempt::wait;
  // Linearization point of a refused insert: this read. relaxed: the acquire loads before keep it behind them.
  if (a.b->head.load(sync::relaxed) != h) return attempt::again;
  out = {.outcome = insert_outcome::exists, .word = there.value};
  return attempt::ended;
}

} // namespace cubby::inline v0::detail::engines::dlht
