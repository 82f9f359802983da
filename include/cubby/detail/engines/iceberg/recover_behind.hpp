// SPDX-License-Identifier: Apache-2.0
// How a durable table is opened, the back yard: the tags of a back bucket, and what front buckets have to know of the entries behind them.
#pragma once

#include <cubby/detail/engines/iceberg/recover_front.hpp>
#include <cubby/detail/platform/parallel.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// Calls `f(share, begin, end)` for parts of [0, count), each once, in all threads.
template <durable Policy, class F>
void in_parts(recovery<Policy>& r, std::uint64_t count, F f, std::uint64_t part = 1024) noexcept {
  r.next.store(0, sync::relaxed); // relaxed: the threads begin after it
  in_parallel(count <= part ? 1 : r.threads, [&](unsigned number) {
    for (;;) {
      const std::uint64_t begin = r.next.fetch_add(part, sync::relaxed); // relaxed: only a number
      if (begin >= count) return;
      f(r.shares[number], begin, begin + part < count ? begin + part : count);
    }
  });
}

/// A back bucket: its tags. Its entries are noted in their front buckets when all of those are known.
template <durable Policy>
void recover_back(recovery<Policy>& r, recovery_share<Policy>& mine, std::uint64_t residue, std::uint64_t copy,
                  unsigned level) noexcept {
  auto& t = r.t;
  const auto at = back_at(t, residue, copy);
  const unsigned shift = group_shift(t.fronts);
  notes_of<Policy, back_slots> notes(t, at.slots);
  std::uint64_t word = copy != 0 ? back::ready : 0;
  for (unsigned slot = 0; slot < back_slots; ++slot) {
    slot_of<Policy>& s = at.slots[slot];
    if (is_empty<Policy>(s)) continue;
    const std::uint64_t hash = hash_of_slot(t.policy, s);
    bool here = false;
    for (unsigned which = 0; which < 2; ++which) {
      const std::uint64_t one = back_hash(hash, which);
      here = here || (cpu::multiply(one, t.backs).high == residue && copy_of(one, level) == copy);
    }
    if (!here) {
      note_misplaced(r, mine, s);
      continue;
    }
    if (!is_entry(r, mine, s, notes.of(slot))) continue;
    const hashed h = hashed_in(t, hash);
    word = back::with_tag(word, slot, short_tag(h.tag));
    mine.no_memory |= !mine.behind[h.residue >> shift].add({&s, hash});
  }
  at.line->store(word, sync::relaxed); // relaxed: as in recover_front
}

/// Whether a front bucket has the key of a slot already.
template <durable Policy>
bool is_in_front(const table<Policy>& t, const front<slot_of<Policy>>& at, const hashed& h,
                 const slot_of<Policy>& s) noexcept {
  const std::uint64_t mask = tagged_slots<slot_of<Policy>>(*at.line, h.tag, t.unit);
  return mask != 0 && have_key(t, at.slots, mask, s); // if it is 0, the slot need not be read
}

/// Of the entries in the back yard with the key of a slot there: the one that counts, and another one, or null. A growth may have moved
/// an entry to the larger copy of its bucket, while the second hash of the key still leads to the old slot. Then that is older.
template <durable Policy> struct copies_behind {
  slot_of<Policy>* kept = nullptr;
  slot_of<Policy>* older = nullptr;
};
template <durable Policy>
copies_behind<Policy> search_copies(const table<Policy>& t, const hashed& h, unsigned level,
                                    const slot_of<Policy>& s) noexcept {
  const std::uint64_t hashes[2] = {back_hash(h.hash, 0), back_hash(h.hash, 1)};
  const unsigned larger = copy_of(hashes[0], level) < copy_of(hashes[1], level) ? 1 : 0;
  const auto p = t.policy.probe_of_slot(key_in<Policy>(s), value_in<Policy>(s));
  copies_behind<Policy> out;
  for (const unsigned which : {larger, 1 - larger}) {
    const auto b = back_of(t, hashes[which], level);
    const std::uint64_t word = b.line->load(sync::relaxed); // relaxed: as in recover_front
    seen_entry<Policy> e;
    for (std::uint64_t left = back::match(word, short_tag(h.tag)); left != 0; left &= left - 1) {
      if (!search_slots(t, b.slots, left & (0 - left), p, always_whole, e) || e.where == out.kept) continue;
      (out.kept == nullptr ? out.kept : out.older) = e.where;
    }
  }
  return out;
}

/// The entries of a group, and what one thread finds out about them.
template <durable Policy> struct behind_group {
  using slot_type = slot_of<Policy>;
  static constexpr std::uint64_t ahead = 16;
  recovery<Policy>& r;
  recovery_share<Policy>& mine;
  unsigned level;

  /// Calls `f(entry, at, h)` for each entry of a list that `drop_old` has left, and before that `first` and then `second`, which fetch what
  /// is anywhere. The slot of one that `drop_doubtful` has dropped is empty.
  template <class First, class Second, class F>
  void for_each(const growing_list<entry_behind<slot_type>>& list, First first, Second second, F f) const noexcept {
    const auto call = [&](std::uint64_t i, const auto& g) {
      if (i >= list.size() || list[i].slot == nullptr) return;
      const hashed h = hashed_in(r.t, list[i].hash);
      g(list[i], front_of(r.t, h, level), h);
    };
    for (std::uint64_t i = 0; i < list.size() + 2 * ahead; ++i) {
      call(i, first);
      if (i >= ahead) call(i - ahead, second);
      if (i >= 2 * ahead) call(i - 2 * ahead, f);
    }
  }

  /// Drops those whose key is in front. Of the others each has a bit (`first_seen`): where that was set before, there may be another one of
  /// the key.
  void drop_old(const growing_list<entry_behind<slot_type>>& list) noexcept {
    for_each(
        list, [](auto&, const auto& at, const hashed&) { prefetch_line_to_write(at.line); },
        [&](auto& e, const auto& at, const hashed& h) {
          std::uint64_t left = tagged_slots<slot_type>(*at.line, h.tag, r.t.unit);
          if (left != 0) prefetch_line(e.slot);
          for (; left != 0; left &= left - 1) prefetch_line(&at.slots[cpu::lowest_bit(left)]);
        },
        [&](auto& e, const auto& at, const hashed& h) {
          if (is_in_front(r.t, at, h, *e.slot)) {
            drop_copy(r, mine, *e.slot);
            e.slot = nullptr;
          } else if (!mine.first_seen(h.hash)) {
            mine.no_memory |= !mine.doubtful.add(e);
          }
        });
  }
  /// Drops the older ones of copies that are all in the back yard.
  void drop_doubtful() noexcept {
    for_each(
        mine.doubtful, [&](auto& e, const auto&, const hashed&) { prefetch_line(e.slot); },
        [&](auto&, const auto&, const hashed& h) { prefetch_back_lines(r.t, h.hash, level); },
        [&](auto& e, const auto&, const hashed& h) {
          while (!is_empty<Policy>(*e.slot)) {
            const auto found = search_copies(r.t, h, level, *e.slot);
            if (found.older == nullptr) return;
            drop_copy(r, mine, *found.older);
            ++dropped_later;
          }
        });
  }
  /// Notes those that stay in their front buckets.
  void keep(const growing_list<entry_behind<slot_type>>& list) noexcept {
    const bool look = dropped_later != 0 || !plain_slots<Policy>;
    for_each(
        list,
        [&](auto& e, const auto&, const hashed&) {
          if (look) prefetch_line(e.slot);
        },
        [&](auto& e, const auto& at, const hashed&) {
          prefetch_line_to_write(at.line);
          ask_for_note(note_of(r.t, *e.slot));
        },
        [&](auto& e, const auto& at, const hashed& h) {
          if (look && is_empty<Policy>(*e.slot)) return;
          if constexpr (plain_slots<Policy>) ++mine.report.entries; // as `stays`, which would read the slot
          else if (!stays(r, mine, *e.slot, note_of(r.t, *e.slot))) return;
          // relaxed, both: no other thread has a bucket of this group, and all end before the table is used
          at.line->state.store(state::with_behind(at.line->state.load(sync::relaxed), h.tag), sync::relaxed);
        });
  }
  std::uint64_t dropped_later = 0;
};

/// All entries of the back yard, group by group.
template <durable Policy> void recover_all_behind(recovery<Policy>& r, unsigned level) noexcept {
  const auto one = [&](recovery_share<Policy>& mine, unsigned number) {
    behind_group<Policy> group{r, mine, level};
    mine.begin_group();
    if (!r.is_distinct()) {
      for (unsigned i = 0; i < r.threads; ++i) group.drop_old(r.shares[i].behind[number]);
      group.drop_doubtful();
    }
    for (unsigned i = 0; i < r.threads; ++i) group.keep(r.shares[i].behind[number]);
  };
  const std::uint64_t groups = ((r.t.fronts - 1) >> group_shift(r.t.fronts)) + 1;
  in_parts(
      r, groups,
      [&](recovery_share<Policy>& mine, std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i) one(mine, static_cast<unsigned>(i));
      },
      1);
}

} // namespace cubby::inline v0::detail::engines::iceberg
