// SPDX-License-Identifier: Apache-2.0
// How a durable table is opened, the front yard: what becomes of the words of a slot, and the tags of a front bucket.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <cubby/detail/engines/iceberg/grow.hpp>
#include <cubby/detail/engines/iceberg/restore.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

template <durable Policy>
inline constexpr bool has_zero_key = std::is_same_v<typename Policy::stored_key, std::uint64_t> && !Policy::in_records;

/// Whether an entry with a torn record may have an older one. Also for a reader, who repairs in memory. A file that was closed had its records whole:
/// what is not has been damaged, and an older value would be a wrong one.
template <durable Policy> bool may_have_older(const table<Policy>& t) noexcept {
  const pool& home = t.policy.home();
  if (home.was_clean()) return false;
  return Policy::in_records && (waits_for_sync(t) || (home.is_read_only() && home.state().what.promise != 0));
}
/// What has been noted of the record of a slot (`find_note`). Slots without records have no notes.
template <durable Policy> auto* note_of([[maybe_unused]] const table<Policy>& t, const slot_of<Policy>& s) noexcept {
  if constexpr (Policy::in_records) return t.policy.find_note(value_in<Policy>(s));
  else return &s;
}
/// Whether the words of a slot are an entry. Of records: by what has been read of the blocks before.
template <durable Policy, class Note>
bool is_whole(const table<Policy>& t, const slot_of<Policy>& s, [[maybe_unused]] Note* note) noexcept {
  if constexpr (Policy::in_records) return t.policy.is_noted(note, key_in<Policy>(s), value_in<Policy>(s));
  else return t.policy.is_whole(key_in<Policy>(s), value_in<Policy>(s));
}
/// The same; if not, the slot is emptied.
template <durable Policy, class Note>
bool is_entry(recovery<Policy>& r, recovery_share<Policy>& mine, slot_of<Policy>& s, Note* note) noexcept {
  if (is_whole(r.t, s, note)) return true;
  if (may_have_older(r.t)) {
    mine.no_memory |= !mine.torn.add(&s);
  } else {
    ++mine.report.torn;
    empty_slot(r.t, s);
  }
  return false;
}
/// The entry stays, unless another one owns what its slot leads to.
template <durable Policy, class Note>
bool stays(recovery<Policy>& r, recovery_share<Policy>& mine, slot_of<Policy>& s,
           [[maybe_unused]] Note* note) noexcept {
  bool claimed = true;
  if constexpr (Policy::in_records) claimed = r.t.policy.claim_noted(note, value_in<Policy>(s));
  else claimed = r.t.policy.claim(key_in<Policy>(s), value_in<Policy>(s));
  if (claimed) {
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
  const bool torn = may_have_older(r.t) && !is_whole(r.t, s, note_of(r.t, s));
  mine.no_memory |= !(torn ? mine.torn : mine.misplaced).add(&s);
}
template <durable Policy> bool is_empty(slot_of<Policy>& s) noexcept {
  return commit_word<Policy>(s).load(sync::relaxed) == 0; // relaxed: no other thread writes it
}

template <class Note> void ask_for_note(Note* note) noexcept {
  if constexpr (!std::is_const_v<Note>) prefetch_line_to_write(note); // of a record; any address will do
}
/// Of the slots of a bucket: their notes. They are asked for some slots before they are read.
template <durable Policy, unsigned Count> class notes_of {
public:
  /// Few enough that no processor drops a prefetch (`cpu::drops_prefetches`).
  static constexpr unsigned ahead = 16;
  notes_of(const table<Policy>& t, slot_of<Policy>* slots) noexcept
      : t_(t), slots_(slots) { // NOLINT: `all_` is filled later
    ask_before(ahead);
  }
  /// Of a slot that is not empty. Slots are asked for in order.
  auto* of(unsigned slot) noexcept {
    if constexpr (Policy::in_records) {
      ask_before(slot + 1 + ahead);
      return all_[slot];
    } else {
      return note_of(t_, slots_[slot]);
    }
  }

private:
  void ask_before([[maybe_unused]] unsigned end) noexcept {
    if constexpr (Policy::in_records) {
      for (; asked_ < end && asked_ < Count; ++asked_) {
        if (is_empty<Policy>(slots_[asked_])) continue;
        all_[asked_] = note_of(t_, slots_[asked_]);
        ask_for_note(all_[asked_]);
      }
    }
  }
  const table<Policy>& t_;
  slot_of<Policy>* slots_;
  unsigned asked_ = 0;
  decltype(note_of(std::declval<const table<Policy>&>(),
                   std::declval<const slot_of<Policy>&>())) all_[Policy::in_records ? Count : 1];
};

/// Slots of words: whatever they have is an entry, and its hash can be computed before that is known.
template <durable Policy> inline constexpr bool plain_slots =
    std::is_same_v<typename Policy::stored_key, std::uint64_t> && !Policy::in_records;

/// What a front bucket has, by its words alone: a bit or a byte for each slot. It is computed before anything is changed. For words there is no
/// branch for each slot: docs/performance/durable.md, Restarts.
struct front_look {
  std::uint64_t used = 0;               // slots that are not empty
  std::uint64_t here = 0;               // of those, the ones in the bucket of their hash
  std::uint64_t doubtful = 0;           // of those, the ones behind another one with their tag
  std::uint64_t tags[tags::line_words]; // of `here`
  /// Of `used`: the last slot before it with that tag, and one more.
  std::uint8_t before[tags::line_tags<std::uint8_t>] = {};
};
/// The hash of what a slot has. `used`: whether that is an entry. Words: anything, where it is none.
template <durable Policy>
CUBBY_ALWAYS_INLINE std::uint64_t hash_if_used(const table<Policy>& t, slot_of<Policy>& s, bool& used) noexcept {
  const auto key = key_in<Policy>(s);
  if constexpr (plain_slots<Policy>) {
    used = key != 0;
    return t.policy.hash_of(key, 0);
  } else {
    used = !is_empty<Policy>(s);
    return used ? hash_of_words(t.policy, key, value_in<Policy>(s)) : 0;
  }
}
/// `First`: `level` is 0, so there is no copy but the first one.
template <bool First, durable Policy>
CUBBY_ALWAYS_INLINE front_look look_at_front(const table<Policy>& t, slot_of<Policy>* slots, std::uint64_t residue,
                                             std::uint64_t copy, unsigned level) noexcept {
  front_look out;
  const std::uint64_t fronts = t.fronts;
  const std::uint64_t copies = (std::uint64_t{1} << level) - 1;
  static_assert(sizeof(typename slot_of<Policy>::tag) == 1); // as docs/format.md says of a bucket
  std::uint8_t last[256] = {};
  for (unsigned word = 0; word < tags::line_words; ++word) {
    std::uint64_t eight = 0;
    std::uint64_t used_bits = 0;
    std::uint64_t here_bits = 0;
    CUBBY_UNROLL_8
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned slot = 8 * word + i;
      bool used = false;
      const hashed h = hashed_for<slot_of<Policy>>(hash_if_used(t, slots[slot], used), fronts);
      if constexpr (!plain_slots<Policy>) {
        if (!used) continue;
      }
      const std::uint64_t differs = (h.residue ^ residue) | (First ? 0 : (h.copies ^ copy) & copies); // less than 2^63
      // 1 if nothing differs; as a comparison it becomes a jump
      const std::uint64_t here = std::uint64_t{used} & (differs - 1) >> 63;
      const std::uint64_t tag = h.tag & (0 - here);
      eight |= tag << (8 * i);
      out.before[slot] = last[tag];
      last[tag] = static_cast<std::uint8_t>(slot + 1);
      used_bits |= std::uint64_t{used} << i;
      here_bits |= here << i;
    }
    out.tags[word] = eight;
    out.used |= used_bits << (8 * word);
    out.here |= here_bits << (8 * word);
  }
  for (unsigned word = 0; word < tags::line_words; ++word) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, &out.before[8 * word], sizeof eight);
    out.doubtful |= std::uint64_t{tags::equal_tags<std::uint8_t>(eight, 0)} << (8 * word);
  }
  out.doubtful = out.here & ~out.doubtful;
  return out;
}
template <class F> CUBBY_ALWAYS_INLINE void for_each_bit(std::uint64_t bits, F f) noexcept {
  for (; bits != 0; bits &= bits - 1) f(cpu::lowest_bit(bits));
}
/// Of some slots, those with the key words of another one. Few have them, and only then a record has to be read.
template <durable Policy>
std::uint64_t with_same_words(slot_of<Policy>* slots, std::uint64_t mask, const slot_of<Policy>& s) noexcept {
  std::uint64_t same = 0;
  for_each_bit(mask, [&](unsigned slot) {
    same |= std::uint64_t{key_in<Policy>(slots[slot]) == key_in<Policy>(s) ? 1U : 0U} << slot;
  });
  return same;
}
/// Whether one of some slots has the key of another one.
template <durable Policy>
bool have_key(const table<Policy>& t, slot_of<Policy>* slots, std::uint64_t mask, const slot_of<Policy>& s) noexcept {
  const std::uint64_t same = with_same_words<Policy>(slots, mask, s);
  seen_entry<Policy> e;
  return same != 0 &&
         search_slots(t, slots, same, t.policy.probe_of_slot(key_in<Policy>(s), value_in<Policy>(s)), always_whole, e);
}
/// Whether one of the entries before a slot that stay has its key.
template <durable Policy>
bool is_copy(const table<Policy>& t, slot_of<Policy>* slots, const front_look& look, unsigned slot,
             std::uint64_t kept) noexcept {
  std::uint64_t alike = 0;
  for (unsigned at = look.before[slot]; at != 0; at = look.before[at - 1]) alike |= std::uint64_t{1} << (at - 1);
  return have_key(t, slots, alike & kept, slots[slot]);
}
/// The slots of a front bucket whose entries stay. Others are emptied, or noted.
template <durable Policy>
std::uint64_t keep_front(recovery<Policy>& r, recovery_share<Policy>& mine, slot_of<Policy>* slots,
                         const front_look& look, notes_of<Policy, front_slots<slot_of<Policy>>>& notes) noexcept {
  const std::uint64_t doubtful = r.is_distinct() ? 0 : look.doubtful;
  for_each_bit(look.used & ~look.here, [&](unsigned slot) { note_misplaced(r, mine, slots[slot]); });
  // Of words only the doubtful ones have to be looked at again: `is_entry` and `stays` say yes to each.
  std::uint64_t kept = plain_slots<Policy> ? look.here & ~doubtful : 0;
  mine.report.entries += static_cast<std::uint64_t>(std::popcount(kept));
  for_each_bit(look.here & ~kept, [&](unsigned slot) {
    slot_of<Policy>& s = slots[slot];
    auto* const note = notes.of(slot);
    if (!is_entry(r, mine, s, note)) return;
    if ((doubtful >> slot & 1) != 0 && is_copy(r.t, slots, look, slot, kept)) drop_copy(r, mine, s);
    else if (stays(r, mine, s, note)) kept |= std::uint64_t{1} << slot;
  });
  return kept;
}

/// A front bucket: the tags of its entries. `copy`: of the doublings.
template <durable Policy>
void recover_front(recovery<Policy>& r, recovery_share<Policy>& mine, std::uint64_t residue, std::uint64_t copy,
                   unsigned level) noexcept {
  auto& t = r.t;
  const auto at = front_at(t, residue, copy);
  notes_of<Policy, front_slots<slot_of<Policy>>> notes(t, at.slots);
  if (copy != 0)
    at.line->state.store(state::ready, sync::relaxed); // relaxed: the threads that recover end before the table is used
  front_look look = level == 0 ? look_at_front<true>(t, at.slots, residue, copy, level)
                               : look_at_front<false>(t, at.slots, residue, copy, level);
  const std::uint64_t kept = keep_front(r, mine, at.slots, look, notes);
  for_each_bit(look.here & ~kept, [&](unsigned slot) {
    look.tags[slot / 8] = tags::with_tag<std::uint8_t>(look.tags[slot / 8], slot, 0);
  });
  for (unsigned word = 0; word < tags::line_words; ++word)
    at.line->tag_words[word].store(look.tags[word], sync::relaxed); // relaxed: as above
}
} // namespace cubby::inline v0::detail::engines::iceberg
