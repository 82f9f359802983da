// SPDX-License-Identifier: Apache-2.0
// How a durable table is opened (section 6): all slots are read, in parallel, and the tags, counts and chains computed from them. An entry
// that stands where no lookup finds it, because a move was cut short, is moved there, or dropped if its key is there already. Each
// change is one that an operation could make, so that a crash in recovery is recovered in the same way.
#pragma once

#include <cubby/detail/engines/iceberg/recover_front.hpp>
#include <cubby/detail/platform/parallel.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// Whether a front bucket has the key of a slot already.
template <durable Policy>
bool is_in_front(const table<Policy>& t, const front<slot_of<Policy>>& at, const hashed& h,
                 const slot_of<Policy>& s) noexcept {
  const auto p = t.policy.probe_of_slot(key_in<Policy>(s), value_in<Policy>(s));
  seen_entry<Policy> e;
  return search_slots(t.policy, at.slots, tagged_slots<slot_of<Policy>>(*at.line, h.tag, h.choice, t.unit), p,
                      always_whole, e);
}

/// A back bucket: its tags. Its entries are noted in their front buckets when all of those are known.
template <durable Policy>
void recover_back(recovery<Policy>& r, recovery_share<Policy>& mine, std::uint64_t residue, std::uint64_t copy,
                  unsigned level) noexcept {
  auto& t = r.t;
  const auto at = back_at(t, residue, copy);
  prefetch_records(t, at.slots, back_slots);
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
    if (!is_entry(r, mine, s)) continue;
    word = back::with_tag(word, slot, short_tag(hashed_for(hash, t.fronts).tag));
    mine.no_memory |= !mine.behind.add(s);
  }
  at.line->store(word, sync::relaxed); // relaxed: as in recover_front
}

/// Calls `f(begin, end)` for parts of [0, count), each once, in all threads.
template <durable Policy, class F> void in_parts(recovery<Policy>& r, std::uint64_t count, F f) noexcept {
  constexpr std::uint64_t part = 1024;
  r.next.store(0, sync::relaxed); // relaxed: the threads begin after it
  in_parallel(count <= part ? 1 : r.threads, [&](unsigned number) {
    for (;;) {
      const std::uint64_t begin = r.next.fetch_add(part, sync::relaxed); // relaxed: only a number
      if (begin >= count) return;
      f(r.shares[number], begin, begin + part < count ? begin + part : count);
    }
  });
}

/// A file that was closed has nothing to repair; one that has is damaged, and all of it is repaired.
template <durable Policy> void doubt(recovery<Policy>& r) noexcept {
  for (unsigned i = 0; i < r.threads; ++i) {
    const auto& one = r.shares[i];
    if (one.misplaced.size() + one.torn.size() + one.report.torn + one.report.damaged + one.report.dropped != 0)
      r.clean = false;
  }
}
/// Both yards, at `level` doublings.
template <durable Policy> void recover_yards(recovery<Policy>& r, unsigned level) noexcept {
  auto& t = r.t;
  in_parts(r, t.fronts << level, [&](recovery_share<Policy>& mine, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) recover_front(r, mine, i % t.fronts, i / t.fronts, level);
  });
  in_parts(r, t.backs << level, [&](recovery_share<Policy>& mine, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) recover_back(r, mine, i % t.backs, i / t.backs, level);
  });
}

/// Whether lookups find the key of a slot in the front bucket, in a back bucket or in a chain.
template <durable Policy>
bool is_found(table<Policy>& t, const home<Policy>& at, const slot_of<Policy>& s) noexcept {
  const auto p = t.policy.probe_of_slot(key_in<Policy>(s), value_in<Policy>(s));
  seen_entry<Policy> e;
  if (is_in_front(t, at.at, at.h, s)) return true;
  return may_be_behind(at.state, at.h.tag) && search_behind(t, at.h, at.root, at.state, p, e);
}

/// Whether an entry of the back yard is an older copy of another one there. A growth has moved that to the larger copy of its
/// bucket, while the second hash of the key still leads to the old slot.
template <durable Policy>
bool is_older_behind(const table<Policy>& t, const home<Policy>& at, const slot_of<Policy>& s) noexcept {
  const unsigned level = at.root.level();
  const std::uint64_t hashes[2] = {back_hash(at.h.hash, 0), back_hash(at.h.hash, 1)};
  const unsigned first = copy_of(hashes[0], level) < copy_of(hashes[1], level) ? 1 : 0;
  const auto p = t.policy.probe_of_slot(key_in<Policy>(s), value_in<Policy>(s));
  seen_entry<Policy> e;
  for (const unsigned which : {first, 1 - first})
    if (search_back(t.policy, back_of(t, hashes[which], level), short_tag(at.h.tag), p, e)) return e.where != &s;
  return false;
}

/// Notes an entry of the back yard in its front bucket, unless lookups find its key already.
template <durable Policy>
void recover_behind(recovery<Policy>& r, recovery_share<Policy>& mine, slot_of<Policy>& s) noexcept {
  auto& t = r.t;
  home<Policy> at = lock_home(t, hashed_for(hash_of_slot(t.policy, s), t.fronts));
  if (!r.is_distinct() && (is_in_front(t, at.at, at.h, s) || is_older_behind(t, at, s))) drop_copy(r, mine, s);
  else if (stays(r, mine, s)) at.state = state::with_behind(at.state, at.h.tag);
  unlock_changed(*at.at.line, at.state);
}
/// What `recover_behind` reads first, and what it reads then.
template <durable Policy> void prefetch_lines_of(const recovery<Policy>& r, const slot_of<Policy>& s,
                                                 unsigned level) noexcept {
  const std::uint64_t hash = hash_of_slot(r.t.policy, s);
  prefetch_line_to_write(front_of(r.t, hashed_for(hash, r.t.fronts), level).line);
  if (!r.is_distinct()) prefetch_back_lines(r.t, hash, level);
}
template <durable Policy> void prefetch_slots_of(const recovery<Policy>& r, const slot_of<Policy>& s,
                                                 unsigned level) noexcept {
  if (r.is_distinct()) return;
  const hashed h = hashed_for(hash_of_slot(r.t.policy, s), r.t.fronts);
  const auto at = front_of(r.t, h, level);
  for (std::uint64_t left = tagged_slots<slot_of<Policy>>(*at.line, h.tag, h.choice, r.t.unit); left != 0;
       left &= left - 1)
    prefetch_line(&at.slots[cpu::lowest_bit(left)]);
}
/// Entries of the back yard. What they need is anywhere, so it is fetched ahead.
template <durable Policy> void recover_some_behind(recovery<Policy>& r, recovery_share<Policy>& mine,
                                                   slot_of<Policy>* const* some, std::uint64_t count) noexcept {
  constexpr std::uint64_t ahead = 16;
  const unsigned level = first_root(r.t).level();
  for (std::uint64_t i = 0; i < count + 2 * ahead; ++i) {
    if (i < count) prefetch_lines_of(r, *some[i], level);
    if (i >= ahead && i < count + ahead) prefetch_slots_of(r, *some[i - ahead], level);
    if (i >= 2 * ahead) recover_behind(r, mine, *some[i - 2 * ahead]);
  }
}
/// The entries that all threads have met in the back yard, shared out anew: some threads have met more than others.
template <durable Policy> void recover_all_behind(recovery<Policy>& r) noexcept {
  std::uint64_t count = 0;
  for (unsigned i = 0; i < r.threads; ++i) count += r.shares[i].behind.size();
  in_parts(r, count, [&](recovery_share<Policy>& mine, std::uint64_t begin, std::uint64_t end) {
    for (unsigned i = 0; begin < end; ++i) { // both count from the first entry of list i
      const auto& list = r.shares[i].behind;
      const std::uint64_t stop = end < list.size() ? end : list.size();
      if (begin < stop) recover_some_behind(r, mine, list.begin() + begin, stop - begin);
      begin = (begin < stop ? stop : begin) - stop;
      end -= stop;
    }
  });
}
/// Hides the tag of an entry of the back yard that was dropped.
template <durable Policy> void hide_dropped(table<Policy>& t, std::uint64_t residue, std::uint64_t copy) noexcept {
  const auto at = back_at(t, residue, copy);
  std::uint64_t word = at.line->load(sync::relaxed); // relaxed: as in recover_front
  for (unsigned slot = 0; slot < back_slots; ++slot)
    if (is_empty<Policy>(at.slots[slot])) word = back::with_tag(word, slot, 0);
  at.line->store(word, sync::relaxed); // relaxed: as above
}

/// An entry of the overflow: a node for it. False: there is none, so the slot is free.
template <durable Policy> bool recover_node(recovery<Policy>& r, slot_of<Policy>& s) noexcept {
  auto& t = r.t;
  auto& mine = r.shares[0];
  if (!is_entry(r, mine, s)) return false;
  home<Policy> at = lock_home(t, hashed_for(hash_of_slot(t.policy, s), t.fronts));
  auto* const space = take_raw<node<Policy>>(1);
  mine.no_memory |= space == nullptr;
  bool linked = false;
  if (!r.is_distinct() && is_found(t, at, s)) {
    drop_copy(r, mine, s);
  } else if (space != nullptr && stays(r, mine, s)) {
    auto* const made = ::new (static_cast<void*>(space)) node<Policy>;
    made->where = &s;
    (void)link_node(t, at, *made, [] {}); // its entry is there
    linked = true;
  }
  if (!linked) give_raw(space);
  unlock_changed(*at.at.line, at.state);
  return linked;
}
template <durable Policy> void recover_overflow(recovery<Policy>& r) noexcept {
  auto& t = r.t;
  pool& home = t.policy.home();
  if (!t.overflow.adopt_extents()) {
    r.shares[0].no_memory = true;
    return;
  }
  for (std::size_t i = 0; i < home.extents().size(); ++i) {
    const extent& one = home.extents()[i];
    if (one.kind != pool_layout::extent_kind::overflow) continue;
    auto* const slots = home.template at<slot_of<Policy>>(one.at);
    for (std::uint64_t n = 0; n < one.bytes / sizeof(slot_of<Policy>); ++n)
      if (is_empty<Policy>(slots[n]) || (!recover_node(r, slots[n]) && is_empty<Policy>(slots[n])))
        t.overflow.give(&slots[n]);
  }
  if constexpr (has_zero_key<Policy>) {
    const auto& zero = home.zero();
    if (zero.key.load(sync::relaxed) != 0) { // relaxed: as in recover_front
      ++r.shares[0].report.damaged;
      empty_slot(t, *zero_slot(t));
    } else if (zero.present.load(sync::relaxed) != 0) { // relaxed: as above
      (void)recover_node(r, *zero_slot(t));
    }
  }
}

/// Moves an entry to where lookups find it. False: no space. Where only a sync makes that durable, its old slot is emptied after one
/// (`sync_recovery`), and is not used before.
template <durable Policy> bool recover_misplaced(recovery<Policy>& r, slot_of<Policy>& s, bool restored) noexcept {
  auto& t = r.t;
  auto& mine = r.shares[0];
  if (is_empty<Policy>(s)) return true;
  if (!t.policy.is_whole(key_in<Policy>(s), value_in<Policy>(s))) {
    ++mine.report.torn;
    leave_slot(t, s);
    return true;
  }
  home<Policy> at = lock_home(t, hashed_for(hash_of_slot(t.policy, s), t.fronts));
  changed how = changed::done;
  if (is_found(t, at, s)) {
    ++mine.report.dropped;
  } else if (!t.policy.claim(key_in<Policy>(s), value_in<Policy>(s))) {
    ++mine.report.damaged;
  } else {
    how = put_new(t, at, key_in<Policy>(s), value_in<Policy>(s));
    ++mine.report.entries;
    ++(restored ? mine.report.restored : mine.report.moved);
  }
  unlock_changed(*at.at.line, at.state);
  if (how != changed::done) return false;
  leave_slot(t, s);
  drain(t);
  return true;
}

/// Entries in the segment that a shrink was leaving when it was cut short. Other segments that are not in use may still have copies, which
/// are of no account: their shrinks have ended.
template <durable Policy> void recover_left(recovery<Policy>& r) noexcept {
  const auto& state = r.t.policy.home().state();
  if (r.clean || state.moving != pool_layout::move_state::shrinks) return;
  const extent* const one = r.t.policy.home().segment(state.level + 1);
  if (one == nullptr) return;
  auto* const slots = r.t.policy.home().template at<slot_of<Policy>>(one->at);
  for (std::uint64_t n = 0; n < one->bytes / sizeof(slot_of<Policy>); ++n)
    if (!is_empty<Policy>(slots[n])) note_misplaced(r, r.shares[0], slots[n]);
}

/// Those with an older record first: it is newer than what an old copy of the entry may lead to.
template <durable Policy, class F> void for_each_misplaced(recovery<Policy>& r, F f) noexcept {
  const auto each = [&](auto list, bool restored) {
    for (unsigned i = 0; i < r.threads; ++i)
      for (std::size_t n = 0; n < (r.shares[i].*list).size(); ++n) f((r.shares[i].*list)[n], restored);
  };
  each(&recovery_share<Policy>::restored, true);
  each(&recovery_share<Policy>::misplaced, false);
}
/// Where only a sync makes moves durable: empties the old slots after one.
template <durable Policy> bool sync_recovery(recovery<Policy>& r) noexcept {
  auto& t = r.t;
  if (r.clean || !waits_for_sync(t)) return true;
  if (!t.policy.home().sync_file()) return false;
  for_each_misplaced(r, [&](slot_of<Policy>& s, bool) { empty_slot(t, s); });
  for (unsigned i = 0; i < r.threads; ++i) {
    auto& list = r.shares[i].restored;
    for (std::size_t n = 0; n < list.size(); ++n) give_if_overflow(t, list[n]);
  }
  return true;
}

} // namespace cubby::inline v0::detail::engines::iceberg
