// SPDX-License-Identifier: Apache-2.0
// How a table is made of the records in its file. All blocks are read, by several threads, and the newest live record of each key gets a slot. The
// other live records die, on the medium as well, before the table is used. Every other block is free. A crash in recovery is followed by the same
// recovery, because a record that dies here is one that does not count.
#pragma once

#include <cubby/detail/core/recovery_report.hpp>
#include <cubby/detail/engines/seph/mutate.hpp>
#include <cubby/detail/engines/seph/records.hpp>
#include <cubby/detail/platform/parallel.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// A list of offsets, in memory.
class offset_list {
public:
  offset_list() = default;
  ~offset_list() { delete[] all_; }
  offset_list(const offset_list&) = delete;
  offset_list& operator=(const offset_list&) = delete;
  /// False: no memory.
  bool add(std::uint64_t one) noexcept {
    if (count_ == space_) {
      const std::size_t more = space_ == 0 ? 64 : space_ * 2;
      auto* const longer = new (std::nothrow) std::uint64_t[more];
      if (longer == nullptr) return false;
      for (std::size_t i = 0; i < count_; ++i) longer[i] = all_[i];
      delete[] all_;
      all_ = longer;
      space_ = more;
    }
    all_[count_++] = one;
    return true;
  }
  [[nodiscard]] const std::uint64_t* begin() const noexcept { return all_; }
  [[nodiscard]] const std::uint64_t* end() const noexcept { return all_ + count_; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

private:
  std::uint64_t* all_ = nullptr;
  std::size_t count_ = 0;
  std::size_t space_ = 0;
};

/// The work of one thread.
struct recovery_share {
  offset_list older;  // live records of keys that have a newer one
  offset_list broken; // blocks with a record that says it is live and does not agree with its checksum
  std::uint64_t entries = 0;
  bool no_memory = false;
};
template <durable Policy> struct recovery {
  table<Policy>& t;
  unsigned threads;
  recovery_share* shares;         // one for each thread
  sync::word<std::uint64_t> next; // part of the blocks
};

/// Gives a live record its slot, or notes the one of its key that does not count.
template <durable Policy> void recover_entry(table<Policy>& t, const thread_record& who, recovery_share& mine,
                                             std::uint64_t pointer, std::uint64_t key_word) noexcept {
  const auto p = t.policy.probe_of_slot(key_word, pointer);
  const auto put = [&](std::uint64_t before) noexcept {
    return t.policy.is_newer(pointer, before) ? decision{action::replace, pointer} : decision{};
  };
  t.policy.forget_epoch(pointer);
  (void)t.policy.claim(key_word, pointer);
  const inserted_word got = insert_at(t, p, pointer);
  if (got.outcome == insert_outcome::inserted) {
    ++mine.entries;
    return;
  }
  const mutated both = got.outcome == insert_outcome::exists ? mutate(t, who, p, put) : mutated{};
  mine.no_memory |= !both.found || !mine.older.add(both.done == action::replace ? both.before : pointer);
}
/// Entries that were read from the file. The buckets of some are asked for together before these get their slots.
template <durable Policy> class read_entries {
  struct entry {
    std::uint64_t pointer;
    std::uint64_t key_word;
  };

public:
  read_entries(table<Policy>& t, const thread_record& who, recovery_share& mine) noexcept
      : t_(t), who_(who), mine_(mine) {} // NOLINT: the entries come later
  void add(std::uint64_t pointer, std::uint64_t key_word) noexcept {
    if (count_ == together) recover();
    all_[count_++] = {pointer, key_word};
  }
  void recover() noexcept {
    for (unsigned i = 0; i < count_; ++i) {
      const std::uint64_t hash = spread<Policy>(t_.policy.probe_of_slot(all_[i].key_word, all_[i].pointer).hash);
      prefetch_buckets(t_, *leaf_of(t_, hash), hash);
    }
    for (unsigned i = 0; i < count_; ++i) recover_entry(t_, who_, mine_, all_[i].pointer, all_[i].key_word);
    count_ = 0;
  }

private:
  /// Of two lines each, so that no processor drops a prefetch (`cpu::drops_prefetches`).
  static constexpr unsigned together = 10;
  table<Policy>& t_;
  const thread_record& who_;
  recovery_share& mine_;
  unsigned count_ = 0;
  entry all_[together];
};
template <durable Policy> void recover_part(recovery<Policy>& r, const thread_record& who, recovery_share& mine,
                                            std::uint64_t number) noexcept {
  auto& t = r.t;
  read_entries<Policy> entries(t, who, mine);
  t.policy.shared().heap.for_each_block_in(number, [&](std::uint64_t offset, std::uint64_t bytes) {
    std::uint64_t key_word = 0;
    const block_contents is = t.policy.look_at(offset, bytes, key_word);
    if (is == block_contents::entry) entries.add(offset, key_word);
    if (is == block_contents::broken) mine.no_memory |= !mine.broken.add(offset);
  });
  entries.recover();
}
template <durable Policy> void recover_parts(recovery<Policy>& r, recovery_share& mine, std::uint64_t parts) noexcept {
  thread_record* const who = registry::local(*r.t.home);
  if (who == nullptr) {
    mine.no_memory = true;
    return;
  }
  std::uint64_t number = 0;
  while ((number = r.next.fetch_add(1, sync::relaxed)) < parts && !mine.no_memory) { // relaxed: only a number
    const thread_pin stay(*who); // of one part, so that what splits give up does not wait for the last one
    recover_part(r, *who, mine, number);
  }
}

/// No record that does not count is live from here on, on the medium as well. False: the system could not write.
template <durable Policy> bool drop_uncounted(recovery<Policy>& r) noexcept {
  auto& shared = r.t.policy.shared();
  const bool by_sync = shared.file.medium().is_synced_later();
  // The newest records must be on the disk before older ones are marked dead. After a kill they may be in the system's memory alone.
  if (by_sync && !shared.file.was_clean() && !shared.file.sync_file()) return false;
  bool any = false;
  for (unsigned i = 0; i < r.threads; ++i) {
    const recovery_share& one = r.shares[i];
    for (const std::uint64_t offset : one.older) {
      shared.heap.unmark(offset);
      r.t.policy.drop(offset);
    }
    for (const std::uint64_t offset : one.broken) r.t.policy.drop(offset);
    any = any || one.older.size() + one.broken.size() != 0;
  }
  shared.file.medium().drain();
  return !any || !by_sync || shared.file.sync_file();
}
template <durable Policy> void report(recovery<Policy>& r) noexcept {
  auto& shared = r.t.policy.shared();
  recovery_report& all = shared.report;
  std::size_t broken = 0;
  for (unsigned i = 0; i < r.threads; ++i) {
    all.entries += r.shares[i].entries;
    all.dropped += r.shares[i].older.size();
    broken += r.shares[i].broken.size();
  }
  if (!shared.file.was_clean()) {
    all.torn = broken;
  } else { // no change waited for a sync; and it may have lost entries without a trace
    const std::uint64_t had = shared.file.state().entries;
    all.damaged = had > all.entries + broken ? had - all.entries : broken;
  }
}

/// Fewer blocks than these are read by one thread.
inline constexpr std::uint64_t parts_of_one_thread = 8;
/// Makes the slots of a table whose base is there. False: no memory, or the system could not write.
template <durable Policy> bool recover(table<Policy>& t) noexcept {
  auto& shared = t.policy.shared();
  thread_record* const mine = registry::local(*t.home);
  if (mine == nullptr || !shared.heap.adopt_extents()) return false;
  const std::uint64_t parts = shared.heap.parts();
  const unsigned most = processors() < 64 ? processors() : 64;
  const unsigned threads = parts <= parts_of_one_thread ? 1 : most;
  auto* const shares = new (std::nothrow) recovery_share[threads];
  if (shares == nullptr) return false;
  recovery<Policy> r{t, threads, shares, {}};
  t.policy.begin_recovery();
  t.in_file.recovering = true;
  in_parallel(threads, [&](unsigned number) { recover_parts(r, shares[number], parts); });
  bool done = true;
  for (unsigned i = 0; i < threads; ++i) done = done && !shares[i].no_memory; // what was not read is not free
  done = done && drop_uncounted(r);
  if (done) {
    report(r);
    shared.heap.open();
    t.entries.add(mine->id(), static_cast<std::int64_t>(shared.report.entries));
    shared.file.note_recovered();
  }
  delete[] shares;
  t.in_file.recovering = false;
  return done;
}

} // namespace cubby::inline v0::detail::engines::seph
