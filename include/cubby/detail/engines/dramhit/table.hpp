// SPDX-License-Identifier: Apache-2.0
// The table, and the search that every verb begins with.
#pragma once

#include <new>
#include <utility>

#include <cubby/detail/core/epoch.hpp>
#include <cubby/detail/engines/dramhit/layout.hpp>
#include <cubby/detail/engines/dramhit/options.hpp>
#include <cubby/detail/platform/prefetch.hpp>

namespace cubby::inline v0::engines::dramhit {

using arrays::growth_factor, arrays::next_array, generations::is_complete;

template <class Policy, class Threads> struct table : arrays::table_state<array<Threads>, Policy, options, Threads> {
  using base = arrays::table_state<array<Threads>, Policy, options, Threads>;
  table(const options& chosen, Policy slots) : base(chosen, std::move(slots)), bag(this->policy, this->home) {}
  retire_bag<Policy, Threads> bag;
};

template <class Policy> constexpr std::uint64_t map_hash(std::uint64_t hash, std::uint64_t count) noexcept {
  if constexpr (Policy::mapping == bin_mapping::fastrange) return cpu::multiply(hash, count).high;
  else return hash % count;
}
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE slot<Threads>* home_line(const array<Threads>& a, std::uint64_t hash) noexcept {
  return a.slots + map_hash<Policy>(hash, a.lines) * slots_in_line;
}

/// Where a key with a reserved word lives: as a word, in a slot of its own; in record mode, where many keys may share
/// such a word, in a small region that is probed like the main one.
template <class Policy, class Threads>
CUBBY_NEVER_INLINE chain<Threads> side_chain(const array<Threads>& a, const word_probe& p) noexcept {
  slot<Threads>* const side = a.slots + a.slot_count();
  if constexpr (!Policy::unique_words) return {side + p.word, 1, 0};
  else return {side, a.side_slots(), map_hash<Policy>(p.hash, a.side_lines) * slots_in_line};
}
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE chain<Threads> chain_of(const array<Threads>& a, const word_probe& p) noexcept {
  if (is_reserved(p.word)) [[unlikely]]
    return side_chain<Policy>(a, p);
  return {a.slots, a.slot_count(), map_hash<Policy>(p.hash, a.lines) * slots_in_line};
}

/// Asks memory for the lines where a search for `p` begins: while the table moves, of two arrays.
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE void prefetch_home(const table<Policy, Threads>& t, const word_probe& p) noexcept {
  const array<Threads>& a = *first_array(t);
  prefetch_line(home_line<Policy>(a, p.hash));
  if (const array<Threads>* const next = next_array(a)) [[unlikely]]
    prefetch_line(home_line<Policy>(*next, p.hash));
}

/// How a search of one array ended.
enum class stop : std::uint8_t {
  hit,     ///< the key is live in `where`
  carried, ///< it is being moved out of `where`; it cannot change until that is done
  end,     ///< `where` is the first slot that an insert could take
  sealed,  ///< not here, and nobody can insert it here any more
  spent    ///< the same, because no slot is free
};

template <class Threads> struct seen_slot {
  stop how;
  slot<Threads>* where = nullptr;
  std::uint64_t key = 0; ///< the words of the slot, as they were read
  std::uint64_t value = 0;
  std::uint64_t looked = 0;  ///< slots that were looked at
  bool passed_moved = false; ///< a slot on the way has moved or is moving: the key may be further on
};

/// Whether the slot in state moving carries `word`: its unit's cell tells, as long as the state lasts.
template <class Threads>
CUBBY_NEVER_INLINE bool is_carried(const array<Threads>& a, const slot<Threads>& s, std::uint64_t word) noexcept {
  const auto unit = static_cast<std::uint64_t>(&s - a.slots) / unit_slots;
  // [carried] acquire: pairs with [carry]; a cell that tells of a later slot implies that this one is seen as moved
  if (a.cells[unit].load(sync::acquire) != word) return false;
  return s.first.load(sync::acquire) == moving; // [look] acquire: pairs with [moved-on]
}

/// Both words of a slot, as they once stood together or as J3 has it. An empty slot may be taken between the two loads,
/// and the value of the thread that took it must not be held for a mark.
template <class Threads>
CUBBY_ALWAYS_INLINE sync::two_words words_of(const slot<Threads>& s, std::uint64_t key) noexcept {
  for (;;) {
    // [look-value] acquire: pairs with [entry]
    const std::uint64_t value = s.second.load(sync::acquire);
    if (key != empty || value == open_mark) return {key, value};
    // [look] acquire: pairs with [entry]
    const std::uint64_t again = s.first.load(sync::acquire);
    if (again == empty) return {empty, sealed_mark};
    key = again;
  }
}

/// Searches the chain of a key. `matches(value)` settles equal words.
template <class Threads, class Matches>
seen_slot<Threads> search(const array<Threads>& a, const chain<Threads>& c, std::uint64_t word,
                          Matches matches) noexcept {
  bool passed = false;
  for (std::uint64_t i = 0; i < c.count; ++i) {
    const std::uint64_t at = c.start + i;
    slot<Threads>& s = c.first[at < c.count ? at : at - c.count];
    // [look] acquire: pairs with [entry]
    const std::uint64_t seen = s.first.load(sync::acquire);
    if (seen != word && !is_reserved(seen)) continue;
    const auto [key, value] = words_of(s, seen);
    if (key == word) {
      if (matches(value)) return {stop::hit, &s, key, value, i + 1, passed};
    } else if (key == empty) {
      return {value == open_mark ? stop::end : stop::sealed, &s, key, value, i + 1, passed};
    } else if (key == dead) {
      if (c.count == 1) return {stop::end, &s, key, value, 1, passed};
    } else if (is_reserved(key)) {
      passed = true;
      if (key == moving && is_carried(a, s, word) && matches(value))
        return {stop::carried, &s, key, value, i + 1, true};
    }
  }
  return {stop::spent, nullptr, 0, 0, c.count, passed};
}

/// Where a search that did not meet the key goes on; null: the key is not in the table. Only inserts have to seal the free slot
/// that they go past (J4). A find or a change may leave it open: at the read of that slot the key was either further on,
/// where nobody inserts it again before it has been erased there, because its old slot says that it has moved; or it was
/// nowhere, and that is the moment of a miss, whichever thread takes the slot afterwards.
template <class Threads>
array<Threads>* beyond(const array<Threads>& a, const seen_slot<Threads>& seen) noexcept {
  return seen.how == stop::end && !seen.passed_moved ? nullptr : next_array(a);
}

/// Waits until the key that is carried out of `where` lives in the next array.
template <class Threads> CUBBY_NEVER_INLINE void wait_for_move(const slot<Threads>& where) noexcept {
  sync::backoff wait;
  // [look] acquire: pairs with [moved-on]
  while (where.first.load(sync::acquire) == moving) wait.pause();
}

} // namespace cubby::inline v0::engines::dramhit
