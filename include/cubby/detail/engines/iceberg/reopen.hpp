// SPDX-License-Identifier: Apache-2.0
// How the table of a file is opened: its segments are hung up, and its entries recovered (recover.hpp).
#pragma once

#include <cubby/detail/engines/iceberg/recover.hpp>
#include <cubby/detail/engines/iceberg/replay.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

template <durable Policy> bool has_no_memory(const recovery<Policy>& r) noexcept {
  bool out = false;
  for (unsigned i = 0; i < r.threads; ++i) out = out || r.shares[i].no_memory;
  return out;
}
/// Whether the slot of an entry was emptied after its tag was noted.
template <durable Policy> bool has_emptied(const recovery<Policy>& r) noexcept {
  bool out = false;
  for (unsigned i = 0; i < r.threads; ++i) {
    const recovery_report& one = r.shares[i].report;
    out = out || one.torn + one.damaged + one.dropped != 0;
  }
  return out;
}
/// Reads the records of the file in its order, so that slots need not. False: no memory.
template <durable Policy> bool read_records([[maybe_unused]] recovery<Policy>& r) noexcept {
  if constexpr (Policy::in_records) {
    const auto& policy = r.t.policy;
    if (!policy.begin_reading()) return false;
    in_parts(
        r, policy.parts(),
        [&](recovery_share<Policy>&, std::uint64_t begin, std::uint64_t end) {
          for (std::uint64_t i = begin; i < end; ++i) policy.read_part(i);
        },
        1);
  }
  return true;
}
/// Whether some slots lead to whole records, but none to one of its key. Then the hash is not that with which the file was made, although it
/// has its identity: recovery would drop the entries. In a file without the promise, a power cut may leave slots of one moment and records of
/// another. Reads slots of all segments, up to the first that is an entry: damage in one place leaves others. Nothing has been changed before.
template <durable Policy>
bool has_foreign_hashes([[maybe_unused]] const recovery<Policy>& r, [[maybe_unused]] unsigned level) noexcept {
  if constexpr (Policy::in_records) {
    constexpr std::uint64_t most_slots = std::uint64_t{1} << 20; // of each segment of a table without entries
    constexpr unsigned enough = 4; // that is more than a move, or damage of a slot, leaves
    const auto& policy = r.t.policy;
    if (policy.home().was_power_cut() && policy.home().state().what.promise == 0) return false;
    unsigned records = 0;
    for (unsigned number = 0; number <= level; ++number) {
      const auto& in = *r.t.segments[number].load(sync::relaxed); // relaxed: the table is not shared yet
      const std::uint64_t slots = in.fronts * front_slots<slot_of<Policy>>;
      for (std::uint64_t i = 0; i < slots && i < most_slots; ++i) {
        const std::uint64_t key = key_in<Policy>(in.slots[i]);
        const std::uint64_t record = value_in<Policy>(in.slots[i]);
        if (key == 0) continue;
        if (policy.is_noted(policy.find_note(record), key, record)) return false;
        if (policy.is_record(record)) ++records;
      }
    }
    return records >= enough;
  } else {
    return false;
  }
}
/// After all claims: what slots lead to is in use.
template <durable Policy> void end_reading([[maybe_unused]] recovery<Policy>& r) noexcept {
  if constexpr (Policy::in_records) {
    const auto& policy = r.t.policy;
    in_parts(r, policy.parts(), [&](recovery_share<Policy>&, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) policy.end_reading_part(i);
    });
    policy.end_reading();
  }
}
/// Recovers all entries of a table whose segments are there. `any_before`: they were in the file before. False: no memory, or no disk space.
template <durable Policy> bool recover_entries(recovery<Policy>& r, unsigned level, bool any_before) noexcept {
  auto& t = r.t;
  if constexpr (Policy::in_records || key_owning_policy<Policy>) {
    if (!t.policy.shared().heap.adopt_extents()) return false;
  }
  if (!read_records(r)) return false;
  t.policy.shared().has_foreign_hashes = has_foreign_hashes(r, level);
  if (t.policy.shared().has_foreign_hashes) return false;
  // What recovery drops must be gone from the disk as well, not only in the memory of the system.
  if (!r.clean && waits_for_sync(t) && !t.policy.home().sync_file()) return false;
  // The slots of a new file are zeros, which nobody has to read: an empty bucket of level 0 is one of zeros.
  if (any_before || level != 0) recover_yards(r, level);
  doubt(r);
  recover_all_behind(r, level);
  doubt(r);
  if (has_emptied(r)) {
    in_parts(r, t.backs << level, [&](recovery_share<Policy>&, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) hide_dropped(t, i % t.backs, i / t.backs);
    });
  }
  recover_overflow(r);
  recover_left(r);
  restore_older(r);
  doubt(r);
  if (has_no_memory(r)) return false; // what was not read must not be taken for unused
  bool done = true;
  for_each_misplaced(r, [&](slot_of<Policy>& s, bool restored) { done = done && recover_misplaced(r, s, restored); });
  drain(t);
  if (!done || !sync_recovery(r)) return false;
  t.unsettled.since.store(0, sync::relaxed); // relaxed: the table is not shared yet
  end_reading(r);
  if constexpr (Policy::in_records) {
    // Also of a closed file: blocks that waited for a lookup when it was closed.
    const bool any = t.policy.blank_unused();
    if (any && !t.policy.home().sync_file()) return false;
  }
  if constexpr (Policy::in_records || key_owning_policy<Policy>) t.policy.shared().heap.open();
  return !has_no_memory(r);
}

/// Hangs the segments of `level` doublings. `any_before`: one was in the file before. False: no memory, no disk space, or an extent of another
/// size.
template <durable Policy> bool hang_segments(table<Policy>& t, unsigned level, bool& any_before) noexcept {
  using slot_type = slot_of<Policy>;
  for (unsigned number = 0; number <= level; ++number) {
    const std::uint64_t share = number == 0 ? 1 : std::uint64_t{1} << (number - 1);
    extent* const there = t.policy.home().segment(number);
    if (there != nullptr && there->bytes < slot_bytes<slot_type>(t.fronts * share, t.backs * share)) return false;
    auto* const made = there == nullptr ? make_durable_segment(t, number, t.fronts * share, t.backs * share)
                                        : make_segment(t.fronts * share, t.backs * share,
                                                       t.policy.home().template at<slot_type>(there->at));
    if (made == nullptr) return false;
    // relaxed: the table is not shared yet
    if (there != nullptr) there->state.store(extent_state::in_use, sync::relaxed);
    any_before = any_before || there != nullptr;
    t.segments[number].store(made, sync::relaxed); // relaxed: the table is not shared yet
  }
  return true;
}

/// Empties the segments that `level` does not use. False: the system could not write.
template <durable Policy> bool empty_left_extents(table<Policy>& t) noexcept {
  pool& home = t.policy.home();
  bool any = false;
  for (std::size_t i = 0; i < home.extents().size(); ++i) {
    const extent& one = home.extents()[i];
    const bool in_use = one.state.load(sync::relaxed) == extent_state::in_use; // relaxed: the table is not shared yet
    if (one.kind != pool_layout::extent_kind::segment || in_use || home.is_read_only()) continue;
    home.give_back(one);
    any = true;
  }
  return !any || !waits_for_sync(t) || home.sync_file();
}

/// After a replay: its records count as covered, and the log begins anew. False: the system could not write.
template <durable Policy> bool start_log(table<Policy>& t) noexcept {
  auto& shared = t.policy.shared();
  if (shared.report.logged != 0 && !shared.file.is_read_only()) {
    const auto freed = t.policy.begin_sync();
    const bool done = shared.file.sync_file();
    (void)t.policy.end_sync(freed, done); // the start of the log syncs once more
    if (!done) return false;
  }
  return shared.log.start(shared.log_bytes);
}

/// Opens the table of an open file. False: no memory, or no disk space.
template <durable Policy> bool open_durable(table<Policy>& t) noexcept {
  pool& home = t.policy.home();
  const auto& state = home.state();
  const unsigned level = state.level;
  t.fronts = state.what.fronts;
  t.backs = state.what.backs;
  t.root.store(root_word{}.next(level, 0).bits, sync::relaxed); // relaxed: the table is not shared yet
  bool any_before = false;
  if (!add_chains(t, level) || !hang_segments(t, level, any_before)) return false; // `close` frees what hangs there
  const unsigned threads = processors() < 64 ? processors() : 64;
  auto* const shares = new (std::nothrow) recovery_share<Policy>[threads];
  if (shares == nullptr) return false;
  recovery<Policy> r{t, threads, home.was_clean() && state.moving == pool_layout::move_state::none, shares, {}};
  const bool done = recover_entries(r, level, any_before);
  recovery_report& all = t.policy.shared().report;
  for (unsigned i = 0; i < threads; ++i) {
    all.entries += shares[i].report.entries;
    all.moved += shares[i].report.moved;
    all.dropped += shares[i].report.dropped;
    (home.was_clean() ? all.damaged : all.torn) +=
        shares[i].report.torn; // a closed file has no change that a sync did not cover
    all.restored += shares[i].report.restored;
    all.damaged += shares[i].report.damaged;
  }
  delete[] shares;
  if (!done) return false;
  if (state.moving != pool_layout::move_state::none) keep_level(t, level, pool_layout::move_state::none);
  if (!empty_left_extents(t)) return false;
  thread_record* const mine = registry::local(*t.home);
  if (mine == nullptr) return false;
  t.entries.add(mine->id(), static_cast<std::int64_t>(all.entries));
  // before there are places: the pages may have an entry that an erase of the log takes away later
  if (!replay_log(t, *mine) || !start_log(t)) return false;
  home.note_recovered();
  all.entries = live_entries(t);
  return open_places(t, all.entries);
}

} // namespace cubby::inline v0::detail::engines::iceberg
