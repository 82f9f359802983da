// SPDX-License-Identifier: Apache-2.0
// Lookups (section 3.3.3). A lookup reads the part of each candidate bucket with which its key begins, then the rest of a bucket whose first part is
// full, and the items whose foreseers agree. It takes no lock. The paper lets a lookup begin again where it meets a mark. Here marked slots
// still show the entry as it is (S3), so a lookup that met a mark looks once more whether its level segment is done, and begins again only then.
#pragma once

#include <cubby/detail/engines/seph/persist.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// What the foreseer of a key looks like in slots of a half: fresh, and stale.
struct tags_of_key {
  std::uint64_t fresh;
  std::uint64_t stale;
};
CUBBY_ALWAYS_INLINE tags_of_key tags_for(std::uint64_t hash, unsigned known) noexcept {
  const unsigned at = window(known);
  return {foreseer_of(hash, at), foreseer_of(hash, at - (at == 0 ? 0 : window_step))};
}

/// What a search has met.
struct seen_slot {
  slot* where = nullptr; // null: the key is absent
  std::uint64_t word = 0;
  bool marked = false; // a slot that was read has a mark
};

/// A candidate bucket of a key, and how far it was searched.
template <class Policy> struct candidate {
  using order_type = slot_order<Policy>;
  static constexpr unsigned count = order_type::count;
  order_type order;
  tags_of_key tags;
  unsigned read = 0;    // so many parts
  unsigned end = count; // the first empty slot in the order of the key, as it was seen; `count`: none
};
template <class Policy> CUBBY_ALWAYS_INLINE candidate<Policy>
lower_candidate(const table<Policy>& t, const level_segment& x, std::uint64_t hash) noexcept {
  return {lower_bucket(t, x, hash), tags_for(hash, known_bits(t, x.level))};
}
template <class Policy> CUBBY_ALWAYS_INLINE candidate<Policy>
higher_candidate(const table<Policy>& t, const level_segment& x, std::uint64_t hash) noexcept {
  return {higher_bucket(t, x, hash), tags_for(hash, known_bits(t, x.level + 1))};
}

/// Reads a part of a bucket.
template <class Policy>
CUBBY_ALWAYS_INLINE slots::seen read_part(const table<Policy>& t, const slot* part, const tags_of_key& tags) noexcept {
  return slots::read<table<Policy>::slots_a_bucket>(part, {tags.fresh, tags.stale}, t.unit);
}
/// Compares the items of slots whose foreseers have agreed: bit i of `agree` is that of `slot_at(i)`. Such a slot is read a second time, and that word
/// counts. A used slot whose first word did not agree has another key, or none, for ever.
template <class Policy, class SlotAt>
CUBBY_ALWAYS_INLINE bool search_agreeing(const table<Policy>& t, const SlotAt& slot_at, const typename Policy::probe& p,
                                         std::uint32_t agree, seen_slot& out) noexcept {
  for (; agree != 0; agree &= agree - 1) {
    slot& at = slot_at(cpu::lowest_bit(agree));
    // [slot] acquire: pairs with [put-slot], and with [put-mark]
    const std::uint64_t word = at.load(sync::acquire);
    if (!shows_item<Policy>(word)) { // a tombstone, or an item that may be that of the key and is being erased
      make_durable(t, at, word);
      continue;
    }
    if (!has_key(t.policy, slot_word::pointer(word), p)) continue;
    out.where = &at;
    out.word = word;
    out.marked |= slot_word::is_marked(word);
    return true;
  }
  return false;
}
/// For an insert: goes on with the search of a bucket, up to its first empty slot.
template <class Policy>
CUBBY_ALWAYS_INLINE bool search_to_end(const table<Policy>& t, candidate<Policy>& in, const typename Policy::probe& p,
                                       seen_slot& out) noexcept {
  for (; in.read < in.order.parts && in.end == in.count; ++in.read) {
    slot* const part = in.order.part(in.read);
    const slots::seen seen = read_part(t, part, in.tags);
    out.marked |= seen.marked();
    if (seen.empty() != 0) in.end = in.read * in.order.slots_a_part + cpu::lowest_bit(seen.empty());
    const auto slot_at = [&](unsigned i) -> slot& { return part[i]; };
    if (search_agreeing(t, slot_at, p, seen.agree(), out)) return true;
  }
  return false;
}
/// For a lookup: searches what is behind the first part, also behind the first empty slot. So how much it reads depends on no data, and no branch
/// is mispredicted.
template <class Policy>
CUBBY_ALWAYS_INLINE bool search_rest(const table<Policy>& t, const candidate<Policy>& in,
                                     const typename Policy::probe& p, seen_slot& out) noexcept {
  std::uint32_t agree = 0;
  for (unsigned i = 1; i < in.order.parts; ++i) {
    const slots::seen seen = read_part(t, in.order.part(i), in.tags);
    out.marked |= seen.marked();
    agree |= seen.agree() << (i * in.order.slots_a_part);
  }
  const auto slot_at = [&](unsigned i) -> slot& { return in.order[i]; };
  return search_agreeing(t, slot_at, p, agree, out);
}
/// Both candidate buckets of a hash.
template <class Policy> struct candidates {
  candidate<Policy> lower;
  candidate<Policy> higher;
  candidates(const table<Policy>& t, const level_segment& x, std::uint64_t hash) noexcept
      : lower(lower_candidate(t, x, hash)), higher(higher_candidate(t, x, hash)) {}
  CUBBY_ALWAYS_INLINE const candidate<Policy>& operator[](unsigned i) const noexcept { return i == 0 ? lower : higher; }
  /// Bit i of what the first parts show (`seen_two::agree`) is about this slot.
  [[nodiscard]] CUBBY_ALWAYS_INLINE slot& in_first_parts(unsigned i) const noexcept {
    slot* const part = i < slots::most_a_part ? lower.order.part(0) : higher.order.part(0);
    return part[i % slots::most_a_part];
  }
};
/// Reads the part of each bucket with which the key begins.
template <class Policy>
CUBBY_ALWAYS_INLINE slots::seen_two read_first_parts(const table<Policy>& t, const candidates<Policy>& in) noexcept {
  return slots::read_two<table<Policy>::slots_a_bucket>(
      in.lower.order.part(0), {in.lower.tags.fresh, in.lower.tags.stale}, in.higher.order.part(0),
      {in.higher.tags.fresh, in.higher.tags.stale}, t.unit);
}
/// Searches both candidate buckets for a key: the part of each with which it begins, and what is behind those that have no empty slot. Most keys
/// are in the first parts. The order of the reads is free: a key that is there throughout has one slot, and no empty one is before it (S1).
template <class Policy>
CUBBY_ALWAYS_INLINE bool search_both(const table<Policy>& t, const candidates<Policy>& in,
                                     const typename Policy::probe& p, seen_slot& out) noexcept {
  const slots::seen_two seen = read_first_parts(t, in);
  out.marked = seen.marked();
  const auto slot_at = [&](unsigned i) -> slot& { return in.in_first_parts(i); };
  if (search_agreeing(t, slot_at, p, seen.agree(), out)) [[likely]]
    return true;
  return (seen.is_full(0) && search_rest(t, in.lower, p, out)) ||
         (seen.is_full(1) && search_rest(t, in.higher, p, out));
}

/// Prefetches the parts of both buckets with which the key begins.
template <class Policy>
CUBBY_ALWAYS_INLINE void prefetch_buckets(const table<Policy>& t, const level_segment& x, std::uint64_t hash) noexcept {
  prefetch_line(&lower_bucket(t, x, hash)[0]);
  prefetch_line(&higher_bucket(t, x, hash)[0]);
}

/// A slot with a mark was read in `x`: if this level segment is done, searches on below it. `x`: then the leaf in which it has searched.
template <class Policy>
CUBBY_OUTLINED seen_slot search_below(const table<Policy>& t, const typename Policy::probe& p, std::uint64_t hash,
                                      level_segment*& x, seen_slot out) noexcept {
  // [next] acquire: pairs with [publish-children]; behind the loads of the slots
  while (out.marked && next_word::is_done(x->next.load(sync::acquire))) {
    x = leaf_below(x, hash);
    out = {};
    (void)search_both(t, candidates<Policy>(t, *x, hash), p, out);
  }
  return out;
}
/// Searches from a level segment on that was a leaf inside this guard. `both`: its buckets.
template <class Policy>
CUBBY_ALWAYS_INLINE seen_slot search_from(const table<Policy>& t, const typename Policy::probe& p, std::uint64_t hash,
                                          level_segment*& x, const candidates<Policy>& both) noexcept {
  seen_slot out;
  (void)search_both(t, both, p, out);
  if (!out.marked) [[likely]]
    return out; // Linearization point of a hit: the load of the slot. Of a miss: a moment at which the key was absent.
  return search_below(t, p, hash, x, out);
}
/// The slot of a key, inside a guard. What it answers is so at one moment of the call.
template <class Policy>
CUBBY_ALWAYS_INLINE seen_slot search(const table<Policy>& t, const typename Policy::probe& p, std::uint64_t hash,
                                     level_segment*& in) noexcept {
  in = leaf_of(t, hash);
  const candidates<Policy> both(t, *in, hash);
  for (unsigned i = 0; i < candidate<Policy>::count; i += slots::most_a_part)
    prefetch_line(both.lower.order.bucket + i);
  prefetch_line(both.higher.order.part(0));
  return search_from(t, p, hash, in, both);
}
/// The value word of what a search has met, once its change is complete.
template <class Policy>
CUBBY_ALWAYS_INLINE found_word found_in(const table<Policy>& t, const seen_slot& seen) noexcept {
  if (seen.where == nullptr) return {};
  make_durable(t, *seen.where, seen.word);
  return {true, value_at(t.policy, slot_word::pointer(seen.word))};
}

template <class Policy>
CUBBY_ALWAYS_INLINE found_word find(const table<Policy>& t, const typename Policy::probe& p) noexcept {
  level_segment* in = nullptr;
  return found_in(t, search(t, p, spread<Policy>(p.hash), in));
}

} // namespace cubby::inline v0::detail::engines::seph
