// SPDX-License-Identifier: Apache-2.0
// The search through slots of words that every verb begins with.
#pragma once

#include <cubby/detail/engines/dramhit/table.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// The slots that a key may be in, in order: `count` of them from `start` on, round the end to `first`.
struct chain {
  slot* first;
  std::uint64_t count;
  std::uint64_t start;
};

/// Where a key with a reserved word lives. As a word it has a slot of its own. In record mode many keys may share such
/// a word, so they live in a small region that is probed like the main one.
template <class Policy>
CUBBY_NEVER_INLINE chain side_chain(const word_array& a, const word_probe& p) noexcept {
  slot* const side = a.slots + a.slot_count();
  if constexpr (!Policy::unique_words) return {side + p.word, 1, 0};
  else return {side, a.side_slots(), map_hash<Policy>(p.hash, a.side_lines) * slots_in_line};
}
template <class Policy>
CUBBY_ALWAYS_INLINE chain chain_of(const word_array& a, const word_probe& p) noexcept {
  if (is_reserved(p.word)) [[unlikely]]
    return side_chain<Policy>(a, p);
  return {a.slots, a.slot_count(), map_hash<Policy>(p.hash, a.lines) * slots_in_line};
}

/// Whether the slot in state moving carries `word`: its unit's cell tells, as long as the state lasts.
CUBBY_NEVER_INLINE inline bool is_carried(const word_array& a, const slot& s, std::uint64_t word) noexcept {
  const auto unit = static_cast<std::uint64_t>(&s - a.slots) / a.in_unit;
  // [carried] acquire: pairs with [carry]; a cell that tells of a later slot implies that this one is seen as moved
  if (a.cells[unit].load(sync::acquire) != word) return false;
  return s.first.load(sync::acquire) == moving; // [look] acquire: pairs with [moved-on]
}

/// Both words of a slot, as they once stood together or as J3 has it. An empty slot may be taken between the two loads,
/// and the value of the thread that took it must not be taken for a mark.
CUBBY_ALWAYS_INLINE sync::two_words words_of(const slot& s, std::uint64_t key) noexcept {
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

/// Searches the chain of a key. `matches(value)` decides when words are equal.
template <class Matches>
seen_slot<word_layout> search(const word_array& a, const chain& c, std::uint64_t word, Matches matches) noexcept {
  bool passed = false;
  for (std::uint64_t i = 0; i < c.count; ++i) {
    const std::uint64_t at = c.start + i;
    slot& s = c.first[at < c.count ? at : at - c.count];
    // [look] acquire: pairs with [entry]
    const std::uint64_t seen = s.first.load(sync::acquire);
    if (seen != word && !is_reserved(seen)) continue;
    const auto [key, value] = words_of(s, seen);
    if (key == word) {
      if (matches(value)) return {stop::hit, &s, {key, value}, i + 1, passed};
    } else if (key == empty) {
      return {value == open_mark ? stop::end : stop::sealed, &s, {key, value}, i + 1, passed};
    } else if (key == dead) {
      if (c.count == 1) return {stop::end, &s, {key, value}, 1, passed};
    } else if (is_reserved(key)) {
      passed = true;
      if (key == moving && is_carried(a, s, word) && matches(value))
        return {stop::carried, &s, {key, value}, i + 1, true};
    }
  }
  return {stop::spent, nullptr, {}, c.count, passed};
}

/// Waits until the key that is carried out of `where` lives in the next array.
CUBBY_NEVER_INLINE inline void wait_for_move(const slot& where) noexcept {
  sync::backoff wait;
  // [look] acquire: pairs with [moved-on]
  while (where.first.load(sync::acquire) == moving) wait.pause();
}

} // namespace cubby::inline v0::detail::engines::dramhit
