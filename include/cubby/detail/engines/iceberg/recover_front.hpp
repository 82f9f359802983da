// SPDX-License-Identifier: Apache-2.0
// How a durable table is opened, the front yard: what becomes of the words of a slot, and the tags of a front bucket.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include <cubby/detail/engines/iceberg/grow.hpp>
#include <cubby/detail/engines/iceberg/restore.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

template <durable Policy>
inline constexpr bool has_zero_key = std::is_same_v<typename Policy::stored_key, std::uint64_t> && !Policy::in_records;

/// Whether an entry with a torn record may have an older one. Also for a reader, who repairs in memory.
template <durable Policy> bool may_have_older(const table<Policy>& t) noexcept {
  const pool& home = t.policy.home();
  return Policy::in_records && (waits_for_sync(t) || (home.is_read_only() && home.state().what.promise != 0));
}
/// Whether the words of a slot are an entry; if not, the slot is emptied.
template <durable Policy>
bool is_entry(recovery<Policy>& r, recovery_share<Policy>& mine, slot_of<Policy>& s) noexcept {
  if (r.t.policy.is_whole(key_in<Policy>(s), value_in<Policy>(s))) return true;
  if (may_have_older(r.t)) {
    mine.no_memory |= !mine.torn.add(s);
  } else {
    ++mine.report.torn;
    empty_slot(r.t, s);
  }
  return false;
}
/// The entry stays, unless another one owns what its slot leads to.
template <durable Policy>
bool stays(recovery<Policy>& r, recovery_share<Policy>& mine, slot_of<Policy>& s) noexcept {
  if (r.t.policy.claim(key_in<Policy>(s), value_in<Policy>(s))) {
    ++mine.report.entries;
    return true;
  }
  ++mine.report.damaged;
  empty_slot(r.t, s);
  return false;
}
template <durable Policy> void drop_copy(recovery<Policy>& r, recovery_share<Policy>& mine,
                                         slot_of<Policy>& s) noexcept {
  ++mine.report.dropped;
  empty_slot(r.t, s);
}
/// An entry where no lookup finds it.
template <durable Policy>
void note_misplaced(recovery<Policy>& r, recovery_share<Policy>& mine, slot_of<Policy>& s) noexcept {
  const bool torn = may_have_older(r.t) && !r.t.policy.is_whole(key_in<Policy>(s), value_in<Policy>(s));
  mine.no_memory |= !(torn ? mine.torn : mine.misplaced).add(s);
}
template <durable Policy> bool is_empty(slot_of<Policy>& s) noexcept {
  return commit_word<Policy>(s).load(sync::relaxed) == 0; // relaxed: no other thread writes it
}

/// Before the slots of a bucket are looked at: their records, at the same time.
template <durable Policy>
void prefetch_records([[maybe_unused]] const table<Policy>& t, [[maybe_unused]] slot_of<Policy>* slots,
                      [[maybe_unused]] unsigned count) noexcept {
  if constexpr (Policy::in_records) {
    for (unsigned slot = 0; slot < count; ++slot)
      if (!is_empty<Policy>(slots[slot])) t.policy.prefetch(value_in<Policy>(slots[slot]));
  }
}

/// Slots of words: whatever they have is an entry, and its hash can be computed before that is known.
template <durable Policy> inline constexpr bool plain_slots =
    std::is_same_v<typename Policy::stored_key, std::uint64_t> && !Policy::in_records;

/// What a front bucket has, by its words alone: a bit or a byte for each slot. It is computed before anything is changed. For words there is no
/// branch for each slot: docs/performance/durable.md, Restarts.
struct front_look {
  std::uint64_t used = 0;                // slots that are not empty
  std::uint64_t here = 0;                // of those, the ones in the bucket of their hash
  std::uint64_t doubtful = 0;            // of those, the ones behind another one with their tag
  std::uint64_t tags[tags::line_words];  // of `here`
  std::uint8_t before[front_slots] = {}; // of `doubtful`: the last slot with that tag, and one more
};
template <durable Policy>
CUBBY_ALWAYS_INLINE front_look look_at_front(const table<Policy>& t, slot_of<Policy>* slots, std::uint64_t residue,
                                             std::uint64_t copy, unsigned level) noexcept {
  front_look out;
  const std::uint64_t fronts = t.fronts;
  const std::uint64_t copies = (std::uint64_t{1} << level) - 1;
  std::uint8_t last[256] = {};
  for (unsigned word = 0; word < tags::line_words; ++word) {
    std::uint64_t eight = 0;
    std::uint64_t used_bits = 0;
    std::uint64_t here_bits = 0;
    std::uint64_t doubtful_bits = 0;
    CUBBY_UNROLL_8
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned slot = 8 * word + i;
      const std::uint64_t used = is_empty<Policy>(slots[slot]) ? 0 : 1;
      if constexpr (!plain_slots<Policy>) {
        if (used == 0) continue;
      }
      const std::uint64_t hash = hash_of_words(t.policy, key_in<Policy>(slots[slot]), value_in<Policy>(slots[slot]));
      const hashed h = hashed_for(hash, fronts);
      const std::uint64_t differs = (h.residue ^ residue) | ((h.copies ^ copy) & copies);
      const std::uint64_t here =
          used & ~(differs | (0 - differs)) >> 63;    // 1 if nothing differs; as a comparison it becomes a jump
      const std::uint64_t whole = h.tag & (0 - here); // the same for a near copy and a far one
      const std::uint64_t tag = front_tag<slot_of<Policy>>(h, slot) & (0 - here);
      const std::uint8_t before = last[whole];
      last[whole] = static_cast<std::uint8_t>(slot + 1);
      out.before[slot] = before;
      eight |= tag << (8 * i);
      used_bits |= used << i;
      here_bits |= here << i;
      doubtful_bits |= (before != 0 ? here : 0) << i;
    }
    out.tags[word] = eight;
    out.used |= used_bits << (8 * word);
    out.here |= here_bits << (8 * word);
    out.doubtful |= doubtful_bits << (8 * word);
  }
  return out;
}
/// Whether one of the entries before a slot that stay has its key.
template <durable Policy>
bool is_copy(const table<Policy>& t, slot_of<Policy>* slots, const front_look& look, unsigned slot,
             std::uint64_t kept) noexcept {
  std::uint64_t alike = 0;
  for (unsigned at = look.before[slot]; at != 0; at = look.before[at - 1]) alike |= std::uint64_t{1} << (at - 1);
  const slot_of<Policy>& s = slots[slot];
  seen_entry<Policy> e;
  return search_slots(t.policy, slots, alike & kept, t.policy.probe_of_slot(key_in<Policy>(s), value_in<Policy>(s)),
                      always_whole, e);
}
template <class F> CUBBY_ALWAYS_INLINE void for_each_bit(std::uint64_t bits, F f) noexcept {
  for (; bits != 0; bits &= bits - 1) f(cpu::lowest_bit(bits));
}
/// The slots of a front bucket whose entries stay. Others are emptied, or noted.
template <durable Policy>
std::uint64_t keep_front(recovery<Policy>& r, recovery_share<Policy>& mine, slot_of<Policy>* slots,
                         const front_look& look) noexcept {
  const std::uint64_t doubtful = r.is_distinct() ? 0 : look.doubtful;
  for_each_bit(look.used & ~look.here, [&](unsigned slot) { note_misplaced(r, mine, slots[slot]); });
  // Of words only the doubtful ones have to be looked at again: `is_entry` and `stays` say yes to each.
  std::uint64_t kept = plain_slots<Policy> ? look.here & ~doubtful : 0;
  mine.report.entries += static_cast<std::uint64_t>(std::popcount(kept));
  for_each_bit(look.here & ~kept, [&](unsigned slot) {
    slot_of<Policy>& s = slots[slot];
    if (!is_entry(r, mine, s)) return;
    if ((doubtful >> slot & 1) != 0 && is_copy(r.t, slots, look, slot, kept)) drop_copy(r, mine, s);
    else if (stays(r, mine, s)) kept |= std::uint64_t{1} << slot;
  });
  return kept;
}

/// A front bucket: the tags of its entries. `copy`: of the doublings.
template <durable Policy>
void recover_front(recovery<Policy>& r, recovery_share<Policy>& mine, std::uint64_t residue, std::uint64_t copy,
                   unsigned level) noexcept {
  auto& t = r.t;
  const auto at = front_at(t, residue, copy);
  prefetch_records(t, at.slots, front_slots);
  if (copy != 0)
    at.line->state.store(state::ready, sync::relaxed); // relaxed: the threads that recover end before the table is used
  front_look look = look_at_front(t, at.slots, residue, copy, level);
  const std::uint64_t kept = keep_front(r, mine, at.slots, look);
  for_each_bit(look.here & ~kept,
               [&](unsigned slot) { look.tags[slot / 8] &= ~(std::uint64_t{0xff} << (slot % 8 * 8)); });
  for (unsigned word = 0; word < tags::line_words; ++word)
    at.line->tag_words[word].store(look.tags[word], sync::relaxed); // relaxed: as above
}
} // namespace cubby::inline v0::detail::engines::iceberg
