// SPDX-License-Identifier: Apache-2.0
// Lookups (section 3.3.3). A lookup reads the part of each candidate bucket with which its key begins, then the rest of a bucket whose first part is
// full, and the items whose foreseers agree. It takes no lock. The paper lets a lookup begin again where it meets a mark. Here marked slots
// still show the entry as it is (S3), and a slot without a mark is in use. So a lookup that met a mark, and no such slot of its key, looks once more
// whether its level segment is done, and begins again only then.
#pragma once

#include <bit>

#include <cubby/detail/engines/seph/persist.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// What the foreseer of a key looks like in slots of a half: 16 bits of the hash if the slot is fresh, those of the window before if it is stale.
struct tags_of_key {
  std::uint32_t both; // the bits of both windows
  [[nodiscard]] CUBBY_ALWAYS_INLINE std::uint64_t fresh() const noexcept { return wanted().one(); }
  [[nodiscard]] CUBBY_ALWAYS_INLINE slots::wanted wanted() const noexcept { return {both, both >> window_step}; }
};
static_assert(foreseer_bits == 16);
/// `which`: 0 the lower half of a level segment, 1 the higher ones.
CUBBY_ALWAYS_INLINE tags_of_key tags_in(const level_segment& x, unsigned which, std::uint64_t hash) noexcept {
  return {static_cast<std::uint32_t>(std::rotl(hash, x.turn[which]) >> (hash_bits - both_windows))};
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
  return {lower_bucket(t, x, hash), tags_in(x, 0, hash)};
}
template <class Policy> CUBBY_ALWAYS_INLINE candidate<Policy>
higher_candidate(const table<Policy>& t, const level_segment& x, std::uint64_t hash) noexcept {
  return {higher_bucket(t, x, hash), tags_in(x, 1, hash)};
}

/// Reads a part of a bucket.
template <class Policy>
CUBBY_ALWAYS_INLINE slots::seen read_part(const table<Policy>& t, const slot* part, const tags_of_key& tags) noexcept {
  return slots::read<table<Policy>::slots_a_bucket>(part, tags.wanted(), t.unit);
}
/// Compares the items of slots whose foreseers have agreed: bit i of `agree` is that of `slot_at(i)`. Such a slot is read a second time, and that word
/// counts. An empty slot agrees with the foreseer 0. A used slot whose first word did not agree has another key, or none, for ever.
template <class Policy, class SlotAt>
CUBBY_ALWAYS_INLINE bool search_agreeing(const table<Policy>& t, const SlotAt& slot_at, const typename Policy::probe& p,
                                         std::uint64_t agree, seen_slot& out) noexcept {
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
/// For a lookup: reads what is behind the first part, also behind the first empty slot. So how much it reads depends on no data, and no branch
/// is mispredicted.
template <class Policy>
CUBBY_ALWAYS_INLINE slots::seen_rest read_rest(const table<Policy>& t, const candidate<Policy>& in) noexcept {
  return slots::read_rest<candidate<Policy>::count>(in.order.bucket, in.order.first_part, in.tags.wanted(), t.unit);
}
template <class Policy>
CUBBY_ALWAYS_INLINE bool search_rest(const table<Policy>& t, const candidate<Policy>& in,
                                     const typename Policy::probe& p, seen_slot& out) noexcept {
  const slots::seen_rest seen = read_rest(t, in);
  out.marked |= seen.marked();
  const auto slot_at = [&](unsigned i) -> slot& { return in.order[i]; };
  return search_agreeing(t, slot_at, p, seen.agree(), out);
}
/// The parts of the lower candidate bucket and of the higher one with which a key begins. Most keys are in them. Without initial values, for batches.
template <class Policy> struct first_parts {
  slot* part[2];
  tags_of_key tags[2];
  CUBBY_ALWAYS_INLINE static first_parts of(const table<Policy>& t, const level_segment& x,
                                            std::uint64_t hash) noexcept {
    using order = slot_order<Policy>;
    const tags_of_key lower_tags = tags_in(x, 0, hash);
    const tags_of_key higher_tags = tags_in(x, 1, hash);
    if constexpr (order::parts != 4) {
      return {{lower_bucket(t, x, hash).part(0), higher_bucket(t, x, hash).part(0)}, {lower_tags, higher_tags}};
    } else { // parts lie one behind the other, as the numbers of `path_in` do
      const std::uint64_t rest = hash << x.level;
      const unsigned behind = hash_bits - 2 - t.bits;
      return {{x.lower + (rest >> behind) * order::slots_a_part,
               x.higher[rest >> (hash_bits - 1)] + (rest << 1 >> behind) * order::slots_a_part},
              {lower_tags, higher_tags}};
    }
  }
  [[nodiscard]] CUBBY_ALWAYS_INLINE slots::seen_two read(const table<Policy>& t) const noexcept {
    return slots::read_two<table<Policy>::slots_a_bucket>(part[0], tags[0].wanted(), part[1], tags[1].wanted(), t.unit);
  }
  /// The slot of a bit of `seen_two::agree`. No branch chooses the part: nothing predicts it.
  [[nodiscard]] CUBBY_ALWAYS_INLINE slot& of_bit(unsigned bit) const noexcept {
    const unsigned i = slots::seen_two::slot_of(bit);
    return part[i / slots::most_a_part][i % slots::most_a_part];
  }
};
/// Goes on with the search of a key that the first parts do not have: behind those without an empty slot.
template <class Policy>
CUBBY_ALWAYS_INLINE void search_others(const table<Policy>& t, const level_segment& x, const typename Policy::probe& p,
                                       std::uint64_t hash, slots::seen_two first, seen_slot& out) noexcept {
  if (first.empty(0) == 0 && search_rest(t, lower_candidate(t, x, hash), p, out)) return;
  if (first.empty(1) == 0) (void)search_rest(t, higher_candidate(t, x, hash), p, out);
}

/// Prefetches the parts of both buckets with which the key begins.
template <class Policy>
CUBBY_ALWAYS_INLINE void prefetch_buckets(const table<Policy>& t, const level_segment& x, std::uint64_t hash) noexcept {
  for (const slot* const part : first_parts<Policy>::of(t, x, hash).part) prefetch_line(part);
}

/// What a lookup has met, and the leaf in which it has searched.
struct seen_in {
  seen_slot slot;
  level_segment* leaf;
};
/// The search of a key that is not in the slot where most are. `first`: what the first parts have shown. It also goes on behind them, and, where a slot
/// with a mark was read, below the level segment if that is done.
template <class Policy>
CUBBY_OUTLINED seen_in search_on(const table<Policy>& t, typename Policy::probe p, std::uint64_t hash, level_segment* x,
                                 slots::seen_two first) noexcept {
  for (;;) {
    const auto parts = first_parts<Policy>::of(t, *x, hash);
    const auto slot_at = [&](unsigned i) -> slot& { return parts.of_bit(i); };
    seen_slot out;
    out.marked = first.marked();
    if (!search_agreeing(t, slot_at, p, first.agree, out)) search_others(t, *x, p, hash, first, out);
    // [next] acquire: pairs with [publish-children]; behind the loads of the slots
    if (!out.marked || !next_word::is_done(x->next.load(sync::acquire))) return {out, x};
    x = leaf_below(x, hash);
    first = first_parts<Policy>::of(t, *x, hash).read(t);
  }
}
/// Searches from a level segment on that was a leaf inside this guard. `both`: its parts for the key. The order of the reads is free: a key that is
/// there throughout has one slot, and no empty one is before it (S1).
template <class Policy>
CUBBY_ALWAYS_INLINE seen_in search_from(const table<Policy>& t, const typename Policy::probe& p, std::uint64_t hash,
                                        level_segment* x, const first_parts<Policy>& both) noexcept {
  const slots::seen_two first = both.read(t);
  if (first.agree != 0) [[likely]] {
    slot& at = both.of_bit(cpu::lowest_bit(first.agree));
    // Linearization point of a hit: a slot without a mark is in use, here or in a level segment below.
    // [slot] acquire: pairs with [put-slot], and with [put-mark]
    const std::uint64_t word = at.load(sync::acquire);
    if (shows_item<Policy>(word) && !slot_word::is_marked(word) && has_key(t.policy, slot_word::pointer(word), p))
      return {{&at, word}, x};
  } else if (!first.marked() && first.empty(0) != 0 && first.empty(1) != 0) {
    return {{}, x}; // Linearization point of a miss: a moment at which the key was absent.
  }
  return search_on(t, p, hash, x, first);
}
/// The slot of a key, inside a guard. What it answers is so at one moment of the call.
template <class Policy> CUBBY_ALWAYS_INLINE seen_in search(const table<Policy>& t, const typename Policy::probe& p,
                                                           std::uint64_t hash) noexcept {
  level_segment* const x = leaf_of(t, hash);
  const auto both = first_parts<Policy>::of(t, *x, hash);
  const slot* const bucket = lower_bucket(t, *x, hash).bucket;
  for (unsigned i = 0; i < candidate<Policy>::count; i += slots::most_a_part) prefetch_line(bucket + i);
  return search_from(t, p, hash, x, both);
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
  return found_in(t, search(t, p, spread<Policy>(p.hash)).slot);
}

} // namespace cubby::inline v0::detail::engines::seph
