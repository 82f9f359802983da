// SPDX-License-Identifier: Apache-2.0
// Syncs of a durable table, and the thread of the table that syncs. Only on a medium that nothing else makes durable there is more to do than to
// sync the file (docs/format.md, Records as entries).
#pragma once

#include <cubby/detail/core/pool_layout.hpp>
#include <cubby/detail/engines/seph/table.hpp>

namespace cubby::inline v0::detail::engines::seph {

template <durable Policy> bool sync_pages(table<Policy>& t) noexcept {
  t.policy.shared().heap.let_go_of_changed();
  return t.policy.shared().file.sync_file();
}
/// Makes everything durable that was done before. False: the system could not write; that is final.
template <durable Policy> bool sync_table(table<Policy>& t, const thread_record& who) noexcept {
  auto& shared = t.policy.shared();
  if (!shared.file.medium().is_synced_later()) return shared.file.sync_file();
  const lock_scope one_at_a_time(shared.sync_lock);
  // after a failure no record is marked any more, and so no new list of them may begin
  if (shared.file.failure() != 0 || shared.file.is_read_only()) return false;
  const auto covered = t.policy.begin_sync();
  const bool done = sync_pages(t);
  const bool marked = t.policy.end_sync(covered, done);
  if (!done || (marked && !sync_pages(t))) return false;
  t.policy.retire_replaced(covered, [&](std::uint64_t word) { t.bag.add(who, word); });
  return true;
}

/// The work of the thread that syncs. A failure is final, and `sync` reports it.
template <durable Policy> void background_sync(void* of) noexcept {
  auto& t = *static_cast<table<Policy>*>(of);
  if (thread_record* const mine = registry::local(*t.home)) (void)sync_table(t, *mine);
}
/// False: the system gives no thread.
template <durable Policy> bool start_syncs(table<Policy>& t) noexcept {
  auto& shared = t.policy.shared();
  if (!shared.file.medium().is_synced_later() || shared.file.is_read_only()) return true;
  t.in_file.syncs.repeat_after(shared.sync_every);
  return t.in_file.syncs.start(background_sync<Policy>, &t, t.home->forks);
}
/// After a record was retired: blocks that wait for a sync must not become too many.
template <durable Policy> void sync_if_much_waits(table<Policy>& t) noexcept {
  auto& shared = t.policy.shared();
  if (shared.file.medium().is_synced_later() && shared.heap.should_sync()) (void)t.in_file.syncs.notify();
}
/// Hands a record over that its caller has replaced or erased.
template <durable Policy> void retire(table<Policy>& t, const thread_record& who, std::uint64_t word) noexcept {
  if (t.policy.is_callers(word)) t.bag.add(who, word);
  sync_if_much_waits(t);
}

/// What a new file says of its slots: that it has none. False: the capacity is too large.
inline bool describe(pool_layout::identity& out, const options& wanted) noexcept {
  constexpr std::uint64_t most_capacity = std::uint64_t{1} << 46;
  out.slot_bytes = sizeof(slot);
  return wanted.capacity <= most_capacity;
}

} // namespace cubby::inline v0::detail::engines::seph
