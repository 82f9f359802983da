// SPDX-License-Identifier: Apache-2.0
// Inserts (algorithm 1 of the paper, lock-free). An insert compares the used slots of both candidate buckets, in the order of its key, up to
// the first empty ones. It takes that of the lower bucket, or else that of the higher one (S2).
#pragma once

#include <cubby/detail/engines/seph/find.hpp>
#include <cubby/detail/engines/seph/reorganise.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// One attempt to insert into a level segment.
enum class attempt : std::uint8_t {
  inserted,
  exists,
  again, ///< a slot has a mark
  full   ///< both candidate buckets are
};

/// Takes the first empty slot of a bucket. Slots that others fill meanwhile are compared. `full`: there is none.
template <class Policy>
CUBBY_ALWAYS_INLINE attempt take_slot(table<Policy>& t, candidate<Policy>& in, const typename Policy::probe& p,
                                      std::uint64_t pointer, seen_slot& seen) noexcept {
  constexpr unsigned count = candidate<Policy>::count;
  const std::uint64_t word = slot_word::make(pointer, in.tags.fresh()) | dirty_flag(t);
  while (in.end < count) {
    slot& at = in.order[in.end];
    std::uint64_t empty = 0;
    // Linearization point of an insert.
    // [put-slot] seq_cst: pairs with [slot]; the next operation of this thread stays behind it (A.1)
    // relaxed: a failed attempt reads the slots anew
    if (at.compare_exchange(empty, word, sync::seq_cst, sync::relaxed)) {
      finish_insert(t, at, word);
      return attempt::inserted;
    }
    if (slot_word::is_empty(empty)) return attempt::again; // it has a mark
    in.read = in.end / in.order.slots_a_part;
    in.end = count;
    if (search_to_end(t, in, p, seen)) return attempt::exists;
    if (seen.marked) return attempt::again;
  }
  return attempt::full;
}

/// `pointer`: of the item to insert.
template <class Policy>
CUBBY_ALWAYS_INLINE attempt try_insert(table<Policy>& t, level_segment& x, const typename Policy::probe& p,
                                       std::uint64_t hash, std::uint64_t pointer, seen_slot& seen) noexcept {
  candidate<Policy> lower = lower_candidate(t, x, hash);
  candidate<Policy> higher = higher_candidate(t, x, hash);
  seen = {};
  if (search_to_end(t, lower, p, seen) || search_to_end(t, higher, p, seen)) return attempt::exists;
  if (seen.marked) return attempt::again;
  const attempt first = take_slot(t, lower, p, pointer, seen);
  if (first != attempt::full) return first;
  return take_slot(t, higher, p, pointer, seen);
}

/// Whether a key that was met in a marked slot is still there: its segment is not done.
inline bool is_current(const level_segment& x, const seen_slot& seen) noexcept {
  // [next] acquire: pairs with [publish-children]; behind the loads of the slots
  return !slot_word::is_marked(seen.word) || !next_word::is_done(x.next.load(sync::acquire));
}

template <class Policy>
inserted_word insert_at(table<Policy>& t, const typename Policy::probe& p, std::uint64_t pointer) noexcept {
  const std::uint64_t hash = spread<Policy>(p.hash);
  sync::backoff wait;
  for (;;) {
    level_segment& x = *leaf_of(t, hash);
    seen_slot seen;
    switch (try_insert(t, x, p, hash, pointer, seen)) {
    case attempt::inserted: return {};
    case attempt::exists:
      if (!is_current(x, seen)) continue;
      make_durable(t, *seen.where, seen.word);
      return {.outcome = insert_outcome::exists, .word = value_at(t.policy, slot_word::pointer(seen.word))};
    case attempt::again: resolve(t, x, wait); continue;
    case attempt::full: break;
    }
    const progress made = make_space(t, x, hash);
    if (made == progress::no_memory) return {.outcome = insert_outcome::no_memory};
    if (made == progress::crowded) return {.outcome = insert_outcome::crowded};
  }
}

/// Inserts an entry, or answers why not. The record stays the caller's unless the answer is `inserted`.
template <class Policy>
CUBBY_ALWAYS_INLINE inserted_word insert(table<Policy>& t, const thread_record& who, const typename Policy::probe& p,
                                         std::uint64_t value) noexcept {
  const std::uint64_t pointer = pointer_to(t.policy, p.word, value);
  if constexpr (durable<Policy>) t.policy.follow_none(pointer);
  if (t.places.is_bounded() && !t.places.take(who.id())) [[unlikely]] {
    const found_word present = find(t, p);
    if (!present.found) return {.outcome = insert_outcome::full};
    return {.outcome = insert_outcome::exists, .word = present.word};
  }
  const inserted_word out = insert_at(t, p, pointer);
  if (out.outcome == insert_outcome::inserted) [[likely]]
    t.entries.add(who.id(), 1);
  else if (t.places.is_bounded()) t.places.give(who.id());
  return out;
}

} // namespace cubby::inline v0::detail::engines::seph
