// SPDX-License-Identifier: Apache-2.0
// Moves on a medium that only a sync makes durable (docs/format.md, Order). A move leaves its old slots as they are. A sync that begins
// after the move has ended makes the copies durable; then the old slots are emptied, and a second sync makes that durable. Until then a
// crash leaves both, and recovery drops the older one. So an erase meanwhile empties both.
#pragma once

#include <cubby/detail/engines/iceberg/grow.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// Whether a slot has a copy of the entry of `s`, whose front bucket is locked. Other slots may be filled meanwhile, under the
/// locks of their own buckets, but none is emptied or filled again. While a move is unsettled, each erase takes `unsettled.lock`,
/// as the caller does. So words that are read after a commit word that is not 0 are those of one entry.
template <durable Policy>
bool is_copy_of(const table<Policy>& t, slot_of<Policy>& copy, const slot_of<Policy>& s) noexcept {
  // [key-word] acquire: pairs with [put-key]
  if (&copy == &s || commit_word<Policy>(copy).load(sync::acquire) == 0) return false;
  const auto key = key_in<Policy>(s);
  if (!(key_in<Policy>(copy) == key)) return false;
  if constexpr (Policy::in_records) {
    // Another key may have the same hash; its front bucket is the locked one as well, so its entry stays. A record that is not whole
    // was given back and used again: then the slot is left over from one of the two keys, and the newer copy is durable.
    const auto record = value_in<Policy>(copy);
    if (record == value_in<Policy>(s) || !t.policy.is_whole(key, record)) return true;
    return t.policy.matches(t.policy.probe_of_slot(key, value_in<Policy>(s)), record);
  } else {
    return true;
  }
}

template <durable Policy> slot_of<Policy>* old_slots(const table<Policy>& t, unsigned segment) noexcept {
  return t.policy.home().template at<slot_of<Policy>>(t.policy.home().made_segment(segment).at);
}
/// The slots of a front bucket at a level from which entries were moved. After a shrink its segment may be gone; the slots are there.
template <durable Policy>
slot_of<Policy>* old_front(const table<Policy>& t, const hashed& h, unsigned level) noexcept {
  const position p = position_at(h.residue, copy_of(h.copies, level), t.fronts);
  return old_slots(t, p.segment) + p.number * front_slots<slot_of<Policy>>;
}
template <durable Policy>
slot_of<Policy>* old_back(const table<Policy>& t, std::uint64_t hash, unsigned level) noexcept {
  const position p = position_at(cpu::multiply(hash, t.backs).high, copy_of(hash, level), t.backs);
  const std::uint64_t fronts = p.segment == 0 ? t.fronts : t.fronts << (p.segment - 1);
  return old_slots(t, p.segment) + fronts * front_slots<slot_of<Policy>> + p.number * back_slots;
}

/// Empties the slots from which a move has copied the entry of `s`. The caller holds the lock of its front bucket, so its key is in no
/// other entry.
template <class Policy> void forget_copies(table<Policy>& t, slot_of<Policy>& s) noexcept {
  if constexpr (durable<Policy>) {
    const lock_scope alone(t.unsettled.lock);
    const std::uint64_t since = t.unsettled.since.load(sync::relaxed); // relaxed: under the lock
    if (since == 0) return;
    const auto level = static_cast<unsigned>(since - 1);
    const std::uint64_t hash = hash_of_slot(t.policy, s);
    const auto forget = [&](slot_of<Policy>* slots, unsigned count) {
      for (unsigned i = 0; i < count; ++i)
        if (is_copy_of(t, slots[i], s)) empty_slot(t, slots[i]);
    };
    forget(old_front(t, hashed_in(t, hash), level), front_slots<slot_of<Policy>>);
    for (unsigned which = 0; which < 2; ++which) forget(old_back(t, back_hash(hash, which), level), back_slots);
    const chain_array& in = newest_chains(t); // since the move began none was added
    for (std::uint64_t link = in.left[chain_number<Policy>(in, hash)]; link != 0; link = node_at<Policy>(link)->retired)
      forget(&node_at<Policy>(link)->entry(), 1);
  }
}

/// Empties a slot without a tag. Under the lock of its bucket.
template <durable Policy> void empty_old_slot(table<Policy>& t, slot_of<Policy>& s) noexcept {
  const bool is_old = commit_word<Policy>(s).load(sync::relaxed) != 0; // relaxed: under the lock of the bucket
  if (is_old) empty_slot(t, s);
}
/// Empties the slots without a tag in a segment. Their copies are durable.
template <durable Policy>
void empty_old_slots_of(table<Policy>& t, typename table<Policy>::segment_type& s) noexcept {
  for (std::uint64_t i = 0; i < s.fronts; ++i) {
    const std::uint64_t word = lock_line(s.lines[i]);
    const lock_scope alone(t.unsettled.lock);
    for (std::uint64_t left = empty_slots<slot_of<Policy>>(s.lines[i]); left != 0; left &= left - 1)
      empty_old_slot(t, s.slots[i * front_slots<slot_of<Policy>> + cpu::lowest_bit(left)]);
    unlock_unchanged(s.lines[i], word);
  }
  for (std::uint64_t i = 0; i < s.backs; ++i) {
    const std::uint64_t word = lock_back(s.back_lines[i]);
    const lock_scope alone(t.unsettled.lock);
    for (std::uint64_t left = back::match(word, 0); left != 0; left &= left - 1)
      empty_old_slot(t, s.behind[i * back_slots + cpu::lowest_bit(left)]);
    unlock_back(s.back_lines[i], word);
  }
}
/// The same in all segments, and in the nodes that a growth has unlinked.
template <durable Policy> void empty_old_slots(table<Policy>& t, const thread_record& who) noexcept {
  for (unsigned number = 0; number <= first_root(t).level(); ++number) empty_old_slots_of(t, segment_at(t, number));
  const chain_array& in = newest_chains(t); // as in forget_copies
  for (std::uint64_t i = 0; i < in.count; ++i) {
    std::uint64_t link = 0;
    {
      const lock_scope alone(t.unsettled.lock);
      link = std::exchange(in.left[i], 0);
    }
    while (link != 0) {
      auto& n = *node_at<Policy>(link);
      link = n.retired;
      empty_slot(t, n.entry());
      t.node_bag.add(who, std::bit_cast<std::uint64_t>(&n));
    }
  }
}

/// Segments that a settled shrink has left: emptied before a sync, and taken again after it. Otherwise a power cut could bring back what they
/// had. Calls `f(extent)` for those in a state; true: there is one.
template <durable Policy, class F> bool for_each_segment_in(table<Policy>& t, std::uint32_t wanted, F f) noexcept {
  auto& all = t.policy.home().extents();
  bool any = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    extent& one = all[i];
    // [leave-extent] acquire: pairs with [leave-extent]
    if (one.state.load(sync::acquire) != wanted) continue;
    f(one);
    any = true;
  }
  return any;
}
/// Only while no move is unsettled: a shrink that ends meanwhile would leave a segment whose copies are not durable.
template <durable Policy> void empty_left_segments(table<Policy>& t) noexcept {
  const lock_scope alone(t.resize_lock);
  if (t.unsettled.since.load(sync::relaxed) != 0) return; // relaxed: under the lock
  (void)for_each_segment_in(t, extent_state::left, [&](extent& one) {
    t.policy.home().give_back(one);
    one.state.store(extent_state::emptied, sync::relaxed); // relaxed: only syncs, one at a time, read this
  });
}
template <durable Policy> void free_emptied_segments(table<Policy>& t) noexcept {
  // [leave-extent] release: pairs with [leave-extent]
  (void)for_each_segment_in(t, extent_state::emptied,
                            [](extent& one) { one.state.store(extent_state::free, sync::release); });
}

/// Whether there is a move to settle. A move that has set `since` and goes on does not count.
template <durable Policy> bool has_ended_move(table<Policy>& t) noexcept {
  const lock_scope alone(t.resize_lock);
  return t.unsettled.since.load(sync::relaxed) != 0 && !first_root(t).moving(); // relaxed: under the lock
}
/// Makes the pages durable. `moved`: so were all entries. `logged`: bytes of the log about changes that are in no synced page. If they are many, nearly all
/// pages have changed, or few entries are in a page. To map 64 bytes of the file again takes less time than to log a byte.
template <durable Policy> bool sync_pages(table<Policy>& t, bool moved, std::uint64_t logged) noexcept {
  auto& shared = t.policy.shared();
  if constexpr (Policy::in_records) shared.heap.let_go_of_changed();
  const std::uint64_t all = shared.file.end_of_extents();
  if (moved || logged >= all / 64) shared.file.let_go_of_pages(0, all);
  return shared.file.sync_file();
}
/// Makes the pages durable, and settles a move that has ended. With a log it is a checkpoint: the sync is said to have covered the log only when
/// the file says so, too. False: the system could not write. Under `sync_lock`.
template <durable Policy> bool sync_locked(table<Policy>& t, const thread_record& who) noexcept {
  auto& shared = t.policy.shared();
  // Before the first sync: the copies of a move that has ended by now are covered by it.
  const bool settle = has_ended_move(t);
  // Before the next epoch begins: this sync does not cover the records of that one, so their entries must not be dropped from the log.
  if (shared.log.is_on() && !shared.log.begin_checkpoint()) return false;
  const auto freed = t.policy.begin_sync();
  empty_left_segments(t);
  const bool done = sync_pages(t, settle, shared.log.ended_bytes());
  const bool marked = t.policy.end_sync(freed, done);
  if (!done) return false;
  free_emptied_segments(t);
  if (settle) {
    empty_old_slots(t, who);
    keep_level(t, first_root(t).level(), pool_layout::move_state::none);
    const lock_scope alone(t.unsettled.lock);
    t.unsettled.since.store(0, sync::relaxed); // relaxed: as above; a move that begins now reads it under resize_lock
  }
  if ((marked || settle) && !sync_pages(t, settle, shared.log.later_bytes())) return false;
  return !shared.log.is_on() || shared.log.end_checkpoint();
}

/// The same for callers that need the pages themselves to be durable.
template <durable Policy> bool checkpoint(table<Policy>& t, const thread_record& who) noexcept {
  if (!waits_for_sync(t)) return t.policy.home().sync_file();
  const lock_scope one_at_a_time(t.policy.shared().sync_lock);
  return sync_locked(t, who);
}
/// Whether a sync that the log has done is to be a checkpoint as well, because only that gives blocks back.
template <durable Policy> bool wants_blocks([[maybe_unused]] table<Policy>& t, committed how) noexcept {
  if constexpr (Policy::in_records) return how == committed::durable && t.policy.shared().heap.wants_sync();
  else return false;
}
/// Makes everything durable that was done before: by the log where that has all of it, else by the pages. False: the system could not write.
template <durable Policy> bool sync_table(table<Policy>& t, const thread_record& who) noexcept {
  auto& log = t.policy.shared().log;
  if (!log.is_on()) return checkpoint(t, who);
  committed how = log.commit();
  if (how != committed::full) {
    if (wants_blocks(t, how)) return checkpoint(t, who);
    if (log.wants_checkpoint()) (void)t.unsettled.worker.notify();
    return how == committed::durable;
  }
  const lock_scope one_at_a_time(t.policy.shared().sync_lock);
  how = log.commit(); // a checkpoint has ended meanwhile, and the log has everything that it has not covered
  return how == committed::full || wants_blocks(t, how) ? sync_locked(t, who) : how == committed::durable;
}

/// The work of the threads that sync: the pages, and the log alone. A failure is final, and `sync` reports it.
template <durable Policy> void background_sync(void* of) {
  auto& t = *static_cast<table<Policy>*>(of);
  if (thread_record* const mine = registry::local(*t.home)) (void)checkpoint(t, *mine);
}
template <durable Policy> void background_commit(void* of) {
  auto& t = *static_cast<table<Policy>*>(of);
  if (thread_record* const mine = registry::local(*t.home)) (void)sync_table(t, *mine);
}
/// Starts them where moves need it, or an interval is wanted. False: the system gives no thread.
template <durable Policy> bool start_syncs(table<Policy>& t) noexcept {
  if (!waits_for_sync(t) || t.policy.home().is_read_only()) return true;
  const std::uint64_t every = t.policy.shared().sync_every;
  const bool by_log = t.policy.shared().log.is_on() && every != 0;
  if (by_log) t.unsettled.committer.repeat_after(every);
  else t.unsettled.worker.repeat_after(every);
  if (!t.unsettled.worker.start(background_sync<Policy>, &t, t.home->forks)) return false;
  return !by_log || t.unsettled.committer.start(background_commit<Policy>, &t, t.home->forks);
}
/// Ends them. No other thread may use the table any more.
template <durable Policy> void stop_syncs(table<Policy>& t) noexcept {
  t.unsettled.committer.stop(); // before the other one, which it wakes
  t.unsettled.worker.stop();
}

/// After a record was retired: blocks that wait for a sync must not become too many.
template <durable Policy> void sync_if_much_waits([[maybe_unused]] table<Policy>& t) noexcept {
  if constexpr (Policy::in_records) {
    if (waits_for_sync(t) && t.policy.shared().heap.should_sync()) (void)t.unsettled.worker.notify();
  }
}

/// Before a move begins: the one before it must be settled. Blocks for a sync if it is not. False: the system could not write.
template <class Policy> bool settle([[maybe_unused]] table<Policy>& t,
                                    [[maybe_unused]] const thread_record& who) noexcept {
  if constexpr (durable<Policy>) {
    if (first_root(t).moving()) return true;
    // relaxed: begin_move looks again
    if (t.unsettled.since.load(sync::relaxed) != 0 && !checkpoint(t, who)) return false;
    {
      const lock_scope keep(t.retired.lock); // the segment of a shrink may wait for a late lookup
      t.retired.release(~std::size_t{0});
    }
    const bool any = for_each_segment_in(t, extent_state::left, [](extent&) {});
    return !any || checkpoint(t, who);
  } else {
    return true;
  }
}

} // namespace cubby::inline v0::detail::engines::iceberg
