// SPDX-License-Identifier: Apache-2.0
// Insert (section 3, Operations and Atomicity).
#pragma once

#include <cubby/detail/engines/dramhit_tuples/resize.hpp>

namespace cubby::inline v0::engines::dramhit_tuples {

/// An insert that had to look at so many tuples asks whether the table is crowded: the sum behind the answer costs as
/// much as a search.
inline constexpr std::uint64_t long_search = 8;

/// `insert` once the table has no bound, or with a place that it takes when it needs one: `has_place` tells.
template <class Policy, class Threads, class Probe>
CUBBY_ALWAYS_INLINE insert_outcome insert_in_place(table<Policy, Threads>& t, const thread_record& who, const Probe& p,
                                                   const typename Policy::stored_value& value,
                                                   bool& has_place) noexcept {
  for (auto* a = first_array(t);;) {
    const auto seen = search(*a, p, nullptr);
    if (seen.how == stop::hit || seen.how == stop::carried) return insert_outcome::exists;
    if (seen.how == stop::filling) {
      wait_while(*seen.where, state::filling);
      continue;
    }
    const auto lines = [&t, a] { return lines_after(t, *a); }; // by value: else `a` would live in memory
    const bool may_stay = seen.how == stop::end && !seen.passed_moved;
    if (may_stay && !has_place) [[unlikely]] {
      has_place = t.places.take(who.id());
      // Linearization point of a refusal: the moment at which every place was taken, and this tuple was still empty.
      // [look-at-tuple] acquire: pairs with [show-tuple]
      if (!has_place && seen.where->header.load(sync::acquire) == seen.header) return insert_outcome::full;
      if (!has_place) continue;
    }
    if (may_stay && seen.looked >= long_search && is_crowded(t, *a))
      (void)array_after(t, *a, lines); // without memory this array goes on
    if (may_stay && has_space_behind(t, *a)) {
      if (!fill(t, *a, *seen.where, p, value)) continue;
      t.claims.add(who.id(), 1);
      maintenance(t);
      return insert_outcome::inserted;
    }
    const auto on = seen.how == stop::end ? array_after_free_slot(t, *a, lines) : array_after(t, *a, lines);
    if (on.next == nullptr) {
      if (on.of == arrays::lack::nothing) continue;
      return on.of == arrays::lack::space ? insert_outcome::full : insert_outcome::no_memory;
    }
    // T4: behind an empty tuple somebody else could still insert the key.
    if (seen.how == stop::end && !seal(*seen.where)) continue;
    a = on.next;
  }
}

/// Inserts if the key is absent. Waits for another insert of the same key, or of one with its tag, and for no other.
template <class Policy, class Threads, class Probe>
insert_outcome insert(table<Policy, Threads>& t, const thread_record& who, const Probe& p,
                      const typename Policy::stored_value& value) noexcept {
  bool has_place = !t.places.is_bounded();
  const insert_outcome out = insert_in_place(t, who, p, value, has_place);
  if (out != insert_outcome::inserted) give_place_back(t, who.id(), has_place);
  return out;
}

} // namespace cubby::inline v0::engines::dramhit_tuples
