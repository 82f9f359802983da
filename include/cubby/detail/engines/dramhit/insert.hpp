// SPDX-License-Identifier: Apache-2.0
// Insert (section 3, Operations and Atomicity), of either layout: a search, then one 16-byte compare-and-swap for words, or the two
// swaps between which a tuple is filled.
#pragma once

#include <cubby/detail/engines/dramhit/move.hpp>
#include <cubby/detail/engines/dramhit/write_tuple.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

// The steps of an insert into slots of words.

template <slot_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE auto search_to_insert(const table<Policy>& t, const word_array& a, const Probe& p) noexcept {
  return search(a, chain_of<Policy>(a, p), stored_word(p.word),
                [&](std::uint64_t found) { return t.policy.matches(p, found); });
}

/// Takes or seals the slot that ended a search. True: done with it; otherwise another thread was faster, and the search begins
/// again.
inline bool write_if_unchanged(const seen_slot<word_layout>& seen, sync::two_words words) noexcept {
  // Linearization point of an insert. [entry] acq_rel: pairs with [look], [look-value]
  return seen.where->compare_exchange(seen.contents, words);
}

/// Whether an insert may take the free slot that it has met in `a`.
template <slot_policy Policy, class Probe>
bool may_take(const table<Policy>& t, word_array& a, const Probe& p) noexcept {
  return is_in_shared_side<Policy>(p) ? claim_side(a) : has_space_behind(t, a);
}

/// Takes it; false: another thread was faster.
template <slot_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE bool take_slot(table<Policy>&, word_array& a, const seen_slot<word_layout>& seen, const Probe& p,
                                   std::uint64_t value) noexcept {
  if (write_if_unchanged(seen, {stored_word(p.word), value})) return true;
  if (is_in_shared_side<Policy>(p)) unclaim_side(a);
  return false;
}

/// No thread may take it any more; false: another thread was faster.
inline bool close_slot(const seen_slot<word_layout>& seen) noexcept {
  return write_if_unchanged(seen, closed(seen.contents.first, seen.contents.second));
}

/// Whether the slot that ended a search would still end it.
inline bool is_unchanged(const seen_slot<word_layout>& seen) noexcept {
  // [look-value], [look] acquire: pairs with [entry]
  return seen.where->second.load(sync::acquire) == seen.contents.second &&
         seen.where->first.load(sync::acquire) == seen.contents.first;
}

// The same steps for tuples.

template <tuple_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE auto search_to_insert(const table<Policy>&, const tuple_array<Policy>& a, const Probe& p) noexcept {
  return search(a, p, nullptr);
}
template <tuple_policy Policy, class Probe>
bool may_take(const table<Policy>& t, tuple_array<Policy>& a, const Probe&) noexcept {
  return has_space_behind(t, a);
}
template <tuple_policy Policy, class Probe>
CUBBY_ALWAYS_INLINE bool take_slot(table<Policy>& t, tuple_array<Policy>& a,
                                   const seen_slot<tuple_layout<Policy>>& seen, const Probe& p,
                                   const typename Policy::stored_value& value) noexcept {
  return fill(t, a, *seen.where, p, value);
}
template <class Policy>
bool close_slot(const seen_slot<tuple_layout<Policy>>& seen) noexcept {
  return seal(*seen.where);
}
template <class Policy>
bool is_unchanged(const seen_slot<tuple_layout<Policy>>& seen) noexcept {
  // [look-at-tuple] acquire: pairs with [show-tuple]
  return seen.where->header.load(sync::acquire) == seen.contents;
}

/// True: the search begins again. Of tuples alone: an insert of the same key, or of one with its tag, was under way, and is done.
template <class Layout>
CUBBY_ALWAYS_INLINE bool wait_for_other_insert(const seen_slot<Layout>& seen) noexcept {
  if constexpr (!std::is_same_v<Layout, word_layout>) {
    if (seen.how == stop::filling) {
      wait_while(*seen.where, state::filling);
      return true;
    }
  }
  return false;
}

/// `insert` once the table has no bound, or with a place that it takes when it needs one: `has_place` tells.
template <class Policy, class Probe>
CUBBY_ALWAYS_INLINE insert_outcome insert_in_place(table<Policy>& t, const thread_record& who, const Probe& p,
                                                   passed_value<Policy> value, bool& has_place) {
  for (auto* a = first_array(t);;) {
    const auto seen = search_to_insert(t, *a, p);
    if (seen.how == stop::hit || seen.how == stop::carried) return insert_outcome::exists;
    if (wait_for_other_insert(seen)) continue;
    const auto lines = [&t, a, &p] { return lines_after(t, *a, p); }; // `a` by value: else it would live in memory
    const bool may_stay = seen.how == stop::end && !seen.passed_moved;
    if (may_stay && !has_place) [[unlikely]] {
      has_place = t.places.take(who.id());
      // Linearization point of a refusal: the moment at which every place was taken, and this slot still ended the chain.
      if (!has_place && is_unchanged(seen)) return insert_outcome::full;
      if (!has_place) continue;
    }
    if (may_stay && seen.looked >= layout_of<Policy>::long_search && is_crowded(t, *a))
      (void)array_after(t, *a, lines); // without memory this array goes on
    if (may_stay && may_take(t, *a, p)) {
      if (!take_slot(t, *a, seen, p, value)) continue;
      t.claims.add(who.id(), 1);
      maintenance(t);
      return insert_outcome::inserted;
    }
    const bool has_free_slot = seen.how == stop::end && is_in_main_region(p); // see J5
    const auto on = has_free_slot ? array_after_free_slot(t, *a, lines) : array_after(t, *a, lines);
    if (on.next == nullptr) {
      if (on.of == arrays::lack::nothing) continue;
      return on.of == arrays::lack::space ? insert_outcome::full : insert_outcome::no_memory;
    }
    // J4, T4: behind an empty slot another thread could still insert the key.
    if (seen.how == stop::end && !close_slot(seen)) continue;
    a = on.next;
  }
}

/// Inserts the words if the key is absent. Lock-free for slots of words, but for the creation of a larger array. Of tuples it
/// waits for another insert of the same key, or of one with its tag, and for no other.
template <class Policy, class Probe>
insert_outcome insert(table<Policy>& t, const thread_record& who, const Probe& p, passed_value<Policy> value) {
  bool has_place = !t.places.is_bounded();
  const insert_outcome out = insert_in_place(t, who, p, value, has_place);
  if (out != insert_outcome::inserted) give_place_back(t, who.id(), has_place);
  return out;
}

} // namespace cubby::inline v0::detail::engines::dramhit
