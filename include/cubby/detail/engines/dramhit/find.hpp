// SPDX-License-Identifier: Apache-2.0
// Get in slots of words (section 3): two loads of a slot, without locked instructions and without a second look.
#pragma once

#include <cubby/detail/engines/dramhit/search.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// The result of a look at one line.
enum class lookup_step : std::uint8_t { hit, miss, further };

/// Looks at the four slots of a line in the main region. A miss counts only if nothing in the array has moved: see `find_from`.
template <class Matches>
CUBBY_ALWAYS_INLINE lookup_step look_at_line(const slot* line, std::uint64_t word, Matches matches,
                                             std::uint64_t& value) noexcept {
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < slots_in_line; ++i) {
    // [look] acquire: pairs with [entry]
    last = line[i].first.load(sync::acquire);
    if (last != word) continue;
    // Linearization point of a hit: the read of the key, or a later moment at which this value was current (J3).
    // [look-value] acquire: pairs with [entry]
    value = line[i].second.load(sync::acquire);
    if (matches(value)) return lookup_step::hit;
  }
  // The slots of a line fill in order, so an empty last slot ends the chain.
  return last == empty ? lookup_step::miss : lookup_step::further;
}

/// The slot of a line that shows `word`, in tables in which equal words are equal keys; `slots_in_line` or more: none. It has no branch
/// for each slot, because no branch predictor could tell which slot it is. At most one slot shows the word at a time (J2). If the
/// key is erased and inserted again meanwhile, two may show it; then the sum wraps, and the key was absent in between.
CUBBY_ALWAYS_INLINE unsigned number_in_line(const slot* line, std::uint64_t word, std::uint64_t last) noexcept {
  static_assert(slots_in_line == 4);
  // [look] acquire: pairs with [entry]
  const auto shows = [&](std::size_t i) { return static_cast<unsigned>(line[i].first.load(sync::acquire) == word); };
  return 4 - 4 * shows(0) - 3 * shows(1) - 2 * shows(2) - static_cast<unsigned>(last == word);
}

/// `look_at_line` for such tables.
CUBBY_ALWAYS_INLINE lookup_step look_at_words(const slot* line, std::uint64_t word, std::uint64_t& value) noexcept {
  // [look] acquire: pairs with [entry]
  const std::uint64_t last = line[slots_in_line - 1].first.load(sync::acquire);
  const unsigned number = number_in_line(line, word, last);
  // Linearization points as above. [look-value] acquire: pairs with [entry]
  value = line[number % slots_in_line].second.load(sync::acquire);
  if (number < slots_in_line) [[likely]]
    return lookup_step::hit;
  return last == empty ? lookup_step::miss : lookup_step::further;
}

/// `look_at_line` or `look_at_words`, by the kind of the table.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE lookup_step look_at(const Policy& policy, const slot* line, const Probe& p,
                                        std::uint64_t& value) noexcept {
  if constexpr (!Policy::unique_words) return look_at_words(line, p.word, value);
  else return look_at_line(line, p.word, [&](std::uint64_t word) { return policy.matches(p, word); }, value);
}

/// Finds the probe's key from array `a` on, also while entries move.
template <class Policy, class Probe>
CUBBY_NEVER_INLINE found_word find_slowly(const Policy& policy, const word_array* a, const Probe& p) noexcept {
  const std::uint64_t word = stored_word(p.word);
  while (a != nullptr) {
    const seen_slot<word_layout> seen =
        search(*a, chain_of<Policy>(*a, p), word, [&](std::uint64_t value) { return policy.matches(p, value); });
    // Linearization point of a hit: as above. Of a carried entry: the read of its cell, during which it cannot change. Of a miss:
    // the read of the slot that ended the chain.
    if (seen.how == stop::hit || seen.how == stop::carried) return {true, seen.contents.second};
    a = beyond(*a, seen);
  }
  return {};
}

/// The same while the table moves, after the home line in `a` has not shown the key. Most keys are in their home line of one of two
/// arrays, so the home line in the next array is read before a search of both. A hit there needs no look at `a`: the value was
/// current when it was read (J2, J3).
template <class Policy, class Probe>
CUBBY_NEVER_INLINE found_word find_while_moving(const Policy& policy, const word_array& a, const Probe& p) noexcept {
  std::uint64_t value = 0;
  if (look_at(policy, home_line<Policy>(*next_array(a), p.hash), p, value) == lookup_step::hit) return {true, value};
  return find_slowly(policy, &a, p);
}

/// Finds the probe's key from `line` on, which is its home line in `a` or a line behind it.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE found_word find_from(const Policy& policy, const word_array& a, const slot* line,
                                         const Probe& p) noexcept {
  const slot* const end = a.slots + a.slot_count();
  for (std::uint64_t looked = 0; looked < a.lines; ++looked) {
    std::uint64_t value = 0;
    const lookup_step saw = look_at(policy, line, p, value);
    if (saw == lookup_step::hit) return {true, value};
    if (next_array(a) != nullptr) [[unlikely]]
      return find_while_moving(policy, a, p);
    // Linearization point of a miss: the read of the first empty slot. The array has no successor yet, so no slot that was read
    // had moved.
    if (saw == lookup_step::miss) return {};
    line = line + slots_in_line == end ? a.slots : line + slots_in_line;
  }
  return find_slowly(policy, &a, p);
}

/// The value word of the probe's key. Lock-free; linearizable.
template <slot_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE found_word find(const table<Policy>& t, const Probe& p) noexcept {
  const word_array& a = *first_array(t);
  if (is_reserved(p.word)) [[unlikely]]
    return find_slowly(t.policy, &a, p);
  if constexpr (!Policy::unique_words) { // so that find_while_moving waits once
    if (const word_array* const next = next_array(a)) [[unlikely]]
      prefetch_line(home_line<Policy>(*next, p.hash));
  }
  return find_from(t.policy, a, home_line<Policy>(a, p.hash), p);
}

} // namespace cubby::inline v0::detail::engines::dramhit
