// SPDX-License-Identifier: Apache-2.0
// Lookups (section 3.3.3). A lookup reads the used slots of the two candidate buckets, and the items whose foreseers agree. It takes no
// lock. The paper lets a lookup begin again where it meets a mark. Here marked slots still show the entry as it is (S3), so a lookup
// that met a mark looks once more whether its level segment is done, and begins again only then.
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
  return {foreseer_of(hash, at), foreseer_of(hash, at < window_step ? at : at - window_step)};
}
CUBBY_ALWAYS_INLINE bool agrees(std::uint64_t word, const tags_of_key& tags) noexcept {
  const std::uint64_t foreseer = word >> slot_word::foreseer_shift;
  if (foreseer == tags.fresh && (word & slot_word::stale) == 0) return true;
  return (word & slot_word::stale) != 0 && foreseer == tags.stale;
}

/// What a search has met.
struct seen_slot {
  slot* where = nullptr; // null: the key is absent
  std::uint64_t word = 0;
  bool marked = false; // a slot that was read has a mark
};

/// Searches the slots of a bucket whose foreseers may agree, from slot `from` on.
template <class Policy>
CUBBY_ALWAYS_INLINE bool search_agreeing(const table<Policy>& t, slot* bucket, const tags_of_key& tags,
                                         const typename Policy::probe& p, std::uint32_t agree,
                                         seen_slot& out) noexcept {
  for (; agree != 0; agree &= agree - 1) {
    slot& at = bucket[cpu::lowest_bit(agree)];
    // [slot] acquire: pairs with [put-slot], and with [put-mark]
    const std::uint64_t word = at.load(sync::acquire);
    if (!agrees(word, tags)) continue;
    if (!shows_item<Policy>(word)) { // a tombstone, or an item that may be that of the key and is being erased
      make_durable(t, at, word);
      continue;
    }
    if (!has_key(t.policy, slot_word::place(word), p)) continue;
    out.where = &at;
    out.word = word;
    out.marked |= slot_word::is_marked(word);
    return true;
  }
  return false;
}
/// Searches a bucket from slot `from` on. `end`: the first empty slot, or one behind the last slot. A slot that is compared is read twice, and
/// its second word counts: a slot whose first word did not agree has another key, or none, for ever.
template <class Policy>
CUBBY_ALWAYS_INLINE bool search_bucket(const table<Policy>& t, slot* bucket, const tags_of_key& tags,
                                       const typename Policy::probe& p, seen_slot& out, unsigned from,
                                       unsigned& end) noexcept {
  constexpr unsigned count = table<Policy>::slots_a_bucket;
  const auto seen = slots::read<count>(bucket, {tags.fresh, tags.stale}, t.unit);
  out.marked |= seen.marked;
  end = seen.empty == 0 ? count : cpu::lowest_bit(seen.empty);
  const std::uint32_t before = (std::uint32_t{1} << from) - 1;
  return search_agreeing(t, bucket, tags, p, seen.agree & ~before, out);
}
template <class Policy>
CUBBY_ALWAYS_INLINE bool search_segment(const table<Policy>& t, const level_segment& x, std::uint64_t hash,
                                        const typename Policy::probe& p, seen_slot& out) noexcept {
  unsigned end = 0;
  const unsigned known = known_bits(t, x.level);
  return search_bucket(t, lower_bucket(t, x, hash), tags_for(hash, known), p, out, 0, end) ||
         search_bucket(t, higher_bucket(t, x, hash), tags_for(hash, known + 1), p, out, 0, end);
}

/// Prefetches the lower bucket, which is full more often than not, and half of the higher one.
template <class Policy>
CUBBY_ALWAYS_INLINE void prefetch_buckets(const table<Policy>& t, const level_segment& x, std::uint64_t hash) noexcept {
  constexpr std::size_t slots_a_line = cpu::cache_line / sizeof(slot);
  const slot* const lower = lower_bucket(t, x, hash);
  const slot* const higher = higher_bucket(t, x, hash);
  for (std::size_t i = 0; i < table<Policy>::slots_a_bucket; i += slots_a_line) prefetch_line(lower + i);
  for (std::size_t i = 0; i < table<Policy>::slots_a_bucket / 2; i += slots_a_line) prefetch_line(higher + i);
}

/// The slot of a key, inside a guard. What it answers is so at one moment of the call.
template <class Policy>
CUBBY_ALWAYS_INLINE seen_slot search(const table<Policy>& t, const typename Policy::probe& p, std::uint64_t hash,
                                     level_segment*& in) noexcept {
  level_segment* x = leaf_of(t, hash);
  for (;;) {
    prefetch_buckets(t, *x, hash);
    seen_slot out;
    (void)search_segment(t, *x, hash, p, out);
    in = x;
    if (!out.marked) [[likely]]
      return out; // Linearization point of a lookup: the load of the slot, or for an absent key of the empty slot behind the used ones.
    // [next] acquire: pairs with [publish-children]; behind the loads of the slots
    if (!next_word::is_done(x->next.load(sync::acquire))) return out;
    x = leaf_below(x, hash);
  }
}

template <class Policy>
CUBBY_ALWAYS_INLINE found_word find(const table<Policy>& t, const typename Policy::probe& p) noexcept {
  level_segment* in = nullptr;
  const seen_slot seen = search(t, p, spread<Policy>(p.hash), in);
  if (seen.where == nullptr) return {};
  make_durable(t, *seen.where, seen.word);
  return {true, value_at(t.policy, slot_word::place(seen.word))};
}

} // namespace cubby::inline v0::detail::engines::seph
