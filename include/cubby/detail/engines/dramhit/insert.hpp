// SPDX-License-Identifier: Apache-2.0
// Insert (section 3, Operations and Atomicity): a search, then one 16-byte compare-and-swap.
#pragma once

#include <cubby/detail/engines/dramhit/resize.hpp>

namespace cubby::inline v0::engines::dramhit {

/// An insert that had to look at so many slots asks whether the table is crowded: the sum behind the answer costs as
/// much as a search, and fewer than a twentieth of the inserts come so far before the mark is reached.
inline constexpr std::uint64_t long_search = 3 * slots_in_line;

/// Takes or seals the slot that ended a search. True: done with it; otherwise somebody was faster, and the search begins
/// again.
template <class Threads>
bool settle(const seen_slot<Threads>& seen, sync::two_words words) noexcept {
  // Linearization point of an insert. [entry] acq_rel: pairs with [look], [look-value]
  return seen.where->compare_exchange({seen.key, seen.value}, words);
}

/// Whether an insert may take the free slot that it has met in `a`.
template <class Policy, class Threads>
bool may_take(const table<Policy, Threads>& t, array<Threads>& a, bool in_shared_side) noexcept {
  return in_shared_side ? claim_side(a) : has_space_behind(t, a);
}

/// Whether the slot that ended a search would still end it.
template <class Threads> bool is_unchanged(const seen_slot<Threads>& seen) noexcept {
  // [look-value], [look] acquire: pairs with [entry]
  return seen.where->second.load(sync::acquire) == seen.value && seen.where->first.load(sync::acquire) == seen.key;
}

/// `insert` once the table has no bound, or with a place that it takes when it needs one: `has_place` tells.
template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE inserted_word insert_in_place(table<Policy, Threads>& t, const thread_record& who, const Probe& p,
                                                  std::uint64_t value, bool& has_place) {
  const std::uint64_t word = stored_word(p.word);
  const bool in_side = is_in_shared_side<Policy>(p);
  for (array<Threads>* a = first_array(t);;) {
    const chain<Threads> c = chain_of<Policy>(*a, p);
    const auto seen = search(*a, c, word, [&](std::uint64_t found) { return t.policy.matches(p, found); });
    if (seen.how == stop::hit || seen.how == stop::carried) return {insert_outcome::exists, false, seen.value};
    const auto lines = [&t, a, c] { return lines_after(t, *a, c); }; // by value: else `a` and `c` would live in memory
    const bool may_stay = seen.how == stop::end && !seen.passed_moved;
    if (may_stay && !has_place) [[unlikely]] {
      has_place = t.places.take(who.id());
      // Linearization point of a refusal: the moment at which every place was taken, and this slot still ended the chain.
      if (!has_place && is_unchanged(seen)) return {.outcome = insert_outcome::full};
      if (!has_place) continue;
    }
    if (may_stay && seen.looked >= long_search && is_crowded(t, *a))
      (void)array_after(t, *a, lines); // without memory this array goes on
    if (may_stay && may_take(t, *a, in_side)) {
      if (!settle(seen, {word, value})) {
        if (in_side) unclaim_side(*a);
        continue;
      }
      t.claims.add(who.id(), 1);
      maintenance(t);
      return {};
    }
    const bool has_free_slot = seen.how == stop::end && c.first == a->slots; // of the main region: see J5
    const auto on = has_free_slot ? array_after_free_slot(t, *a, lines) : array_after(t, *a, lines);
    if (on.next == nullptr) {
      if (on.of == arrays::lack::nothing) continue;
      return {.outcome = on.of == arrays::lack::space ? insert_outcome::full : insert_outcome::no_memory};
    }
    // J4: behind an empty slot somebody else could still insert the key.
    if (seen.how == stop::end && !settle(seen, closed(seen.key, seen.value))) continue;
    a = on.next;
  }
}

/// Inserts the words if the key is absent. Lock-free but for the creation of a larger array.
template <class Policy, class Threads, class Probe>
inserted_word insert(table<Policy, Threads>& t, const thread_record& who, const Probe& p, std::uint64_t value) {
  bool has_place = !t.places.is_bounded();
  const inserted_word out = insert_in_place(t, who, p, value, has_place);
  if (out.outcome != insert_outcome::inserted) give_place_back(t, who.id(), has_place);
  return out;
}

} // namespace cubby::inline v0::engines::dramhit
