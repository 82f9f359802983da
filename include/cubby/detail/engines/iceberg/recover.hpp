// SPDX-License-Identifier: Apache-2.0
// How a durable table is opened (section 6): all slots are read, in parallel, and the tags, counts and chains computed from them. An entry
// that stands where no lookup finds it, because a move was cut short, is moved there, or dropped if its key is there already. Each
// change is one that an operation could make, so that a crash in recovery is recovered in the same way.
#pragma once

#include <cubby/detail/engines/iceberg/recover_behind.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

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
  if (!is_entry(r, mine, s, note_of(t, s))) return false;
  home<Policy> at = lock_home(t, hashed_in(t, hash_of_slot(t.policy, s)));
  auto* const space = take_raw<node<Policy>>(1);
  mine.no_memory |= space == nullptr;
  bool linked = false;
  if (!r.is_distinct() && is_found(t, at, s)) {
    drop_copy(r, mine, s);
  } else if (space != nullptr && stays(r, mine, s, note_of(t, s))) {
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
  if (!is_whole(t, s, note_of(t, s))) {
    ++mine.report.torn;
    leave_slot(t, s);
    return true;
  }
  home<Policy> at = lock_home(t, hashed_in(t, hash_of_slot(t.policy, s)));
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
      for (std::size_t n = 0; n < (r.shares[i].*list).size(); ++n) f(*(r.shares[i].*list)[n], restored);
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
    for (std::size_t n = 0; n < list.size(); ++n) give_if_overflow(t, *list[n]);
  }
  return true;
}

} // namespace cubby::inline v0::detail::engines::iceberg
