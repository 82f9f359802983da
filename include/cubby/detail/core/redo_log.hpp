// SPDX-License-Identifier: Apache-2.0
// The log of a durable file (docs/format.md, The log): the changes since the last checkpoint, so that a sync writes them and not all changed
// pages. It promises: what `commit` has covered, `for_each_logged` shows after a power cut, in the order of the changes of each key. It
// knows keys and values as bytes, and no engine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <cubby/detail/core/pool.hpp>

namespace cubby::inline v0::detail {

/// What a sync of the log has come to. `full`: a change has no entry, so only a checkpoint covers it.
enum class committed : std::uint8_t { durable, full, failed };

/// The two halves of the log's extent.
struct log_halves {
  std::uint64_t at = 0;   // of the first one
  std::uint64_t each = 0; // bytes
  explicit log_halves(const extent& area) noexcept
      : at(area.at), each((std::min)(area.bytes / 2 / pool_layout::page * pool_layout::page, most)) {}
  [[nodiscard]] std::uint64_t of(std::uint64_t generation) const noexcept { return at + generation % 2 * each; }
  static constexpr std::uint64_t most = std::uint64_t{1} << 30;
};

class redo_log {
public:
  explicit redo_log(pool& home) noexcept : home_(home) {}
  redo_log(const redo_log&) = delete;
  redo_log& operator=(const redo_log&) = delete;

  static constexpr std::uint64_t least_bytes = std::uint64_t{64} << 10;
  /// Threads that tell the log of a change at once. A further one waits until one of them has made its change, so no thread may wait for a lock
  /// of the table between the two.
  static constexpr unsigned most_writers = 1024;

  /// Whether changes need an entry. It does not change while the table is shared.
  [[nodiscard]] CUBBY_ALWAYS_INLINE bool is_on() const noexcept { return on_; }

  /// At the end of an opening by a writer: older groups count no more. With `wanted` bytes the log takes entries from then on, if the medium
  /// needs one and there is space for it. False: the system could not write.
  bool start(std::uint64_t wanted) noexcept {
    if (home_.is_read_only()) return true;
    const bool use = wanted != 0 && home_.medium().is_synced_later() && home_.is_boot_known();
    const extent* area = home_.log();
    if (area == nullptr && use) {
      area =
          home_.take_extent(pool_layout::extent_kind::log, 0, std::clamp(wanted, least_bytes, 2 * log_halves::most), 0);
    }
    if (area == nullptr) return true;
    // what the older groups say is in the pages, and they are durable before that counts no more
    if (!home_.sync_file()) return false;
    generation_ = home_.state().log + 2;
    if (!count_from(generation_)) return false;
    if (!use || !home_.map_log(*area)) return true;
    const log_halves halves(*area);
    each_ = halves.each;
    first_ = halves.at;
    tail_.store(position(generation_, header), sync::relaxed); // relaxed: not shared yet
    on_ = true;
    return true;
  }

  /// A change of one entry of which the log is told. It lives from before another thread can see the change until the change is in the table.
  /// Under the lock that orders the changes of a key.
  class change {
  public:
    change() = default;
    ~change() {
      // [log-writer] release: pairs with [log-writers]; a checkpoint that sees it makes the change durable
      if (writer_ != nullptr) writer_->store(0, sync::release);
    }
    change(const change&) = delete;
    change& operator=(const change&) = delete;

    /// `hint`: another number for threads that are here at the same time, for speed.
    void note(redo_log& log, std::uint64_t hint, pool_layout::log_kind kind, std::string_view key,
              std::string_view value) noexcept {
      writer_ = &log.enter(hint);
      log.append(*writer_, kind, key, value);
    }

  private:
    sync::word<std::uint64_t>* writer_ = nullptr;
  };

  /// Makes all changes durable that have an entry, and all that were seen in the table before.
  committed commit() noexcept {
    const lock_scope alone(lock_);
    if (home_.failure() != 0) return committed::failed;
    if (!complete_) return committed::full;
    std::uint64_t end = tail_.load(sync::relaxed); // relaxed: the exchange decides
    do {
      if (offset_in(end) > each_) return committed::full;
      if (offset_in(end) == begin_ + header) return committed::durable;
      // [log-tail] seq_cst: pairs with [log-place], and is before the writers are looked at
    } while (!tail_.compare_exchange(end, after(end), sync::seq_cst, sync::relaxed)); // relaxed: it is tried again
    if (!write_group(end)) return committed::failed;
    begin_ = offset_in(after(end)) - header;
    ++number_;
    return committed::durable;
  }
  /// Whether a checkpoint should begin, so that the log does not become full.
  [[nodiscard]] bool wants_checkpoint() const noexcept {
    return offset_in(tail_.load(sync::relaxed)) > each_ / 4 * 3; // relaxed: a hint
  }

  /// Before the sync of a checkpoint: changes go into the next generation. When it returns, all changes of this one are in the table. One checkpoint
  /// at a time. False: the system could not write.
  bool begin_checkpoint() noexcept {
    std::uint64_t end = 0;
    {
      const lock_scope alone(lock_);
      if (home_.failure() != 0) return false;
      // [log-tail] seq_cst: pairs with [log-place], and is before the writers are looked at
      end = tail_.exchange(position(generation_ + 1, header), sync::seq_cst);
      complete_ = offset_in(end) <= each_;
      // Durable before a group of the next generation can be: that one counts only behind all of this one.
      if (complete_ && offset_in(end) != begin_ + header && !write_group(end)) return false;
      ended_bytes_ = complete_ ? written_ : each_;
      ++generation_;
      begin_ = number_ = written_ = 0;
    }
    wait_for_writers(end, all_done);
    return true;
  }
  /// Bytes of the changes that the checkpoint under way has ended, and of those since, about. 0: there is no log. For the thread that makes it.
  [[nodiscard]] std::uint64_t ended_bytes() const noexcept { return ended_bytes_; }
  [[nodiscard]] std::uint64_t later_bytes() const noexcept {
    const std::uint64_t end = offset_in(tail_.load(sync::relaxed)); // relaxed: a hint
    return end < each_ ? end : each_;
  }
  /// After the sync of a checkpoint. False: the system could not write, and a sync must not return true.
  bool end_checkpoint() noexcept {
    if (!count_from(generation_)) return false;
    const lock_scope alone(lock_);
    complete_ = true;
    count(checkpoints_);
    return true;
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return on_ ? 2 * each_ : 0; }
  // Without the lock, which a sync holds while the disk writes.
  [[nodiscard]] std::uint64_t groups() const noexcept { return groups_.load(sync::relaxed); } // relaxed: statistics
  [[nodiscard]] std::uint64_t checkpoints() const noexcept {
    return checkpoints_.load(sync::relaxed); // relaxed: statistics
  }

private:
  // A position: the low bits of the generation, and the offset in its half. Positions only grow, until they begin anew behind the largest.
  static constexpr unsigned offset_bits = 41; // most_writers may each go behind the half
  static constexpr std::uint64_t header = sizeof(pool_layout::group_header);
  // A writer: 0; or the tail when it came, and whether its entry is copied.
  static constexpr std::uint64_t copied = 1;
  static_assert((most_writers + 1) * (log_halves::most + 8) < std::uint64_t{1} << offset_bits);
  static constexpr bool all_done = true;
  struct alignas(cpu::cache_line) writer {
    sync::word<std::uint64_t> at;
  };

  static constexpr std::uint64_t position(std::uint64_t generation, std::uint64_t offset) noexcept {
    return generation << offset_bits | offset;
  }
  static constexpr std::uint64_t offset_in(std::uint64_t at) noexcept {
    return at & ((std::uint64_t{1} << offset_bits) - 1);
  }
  static constexpr bool is_before(std::uint64_t at, std::uint64_t end) noexcept {
    return static_cast<std::int64_t>(at - end) < 0;
  }
  /// The first entry of the group behind one that ends there; behind the half if there is no space for one.
  [[nodiscard]] std::uint64_t after(std::uint64_t end) const noexcept {
    const std::uint64_t next = (offset_in(end) + pool_layout::page - 1) / pool_layout::page * pool_layout::page;
    return end - offset_in(end) + (next + header > each_ ? each_ + 8 : next + header);
  }
  [[nodiscard]] std::byte* half() const noexcept { return home_.base() + first_ + generation_ % 2 * each_; }

  /// Says that the caller is about to take a position. Waits while there are very many.
  sync::word<std::uint64_t>& enter(std::uint64_t hint) noexcept {
    sync::backoff wait;
    for (std::uint64_t turn = 0;; ++turn) {
      sync::word<std::uint64_t>& mine = writers_[(hint + turn) % most_writers].at;
      std::uint64_t none = 0;
      // relaxed, both: the tail may be an older one; a failed attempt reads nothing that others have written
      // [log-writer] seq_cst: pairs with [log-writers]; it is before the position that this thread takes
      if (mine.compare_exchange(none, tail_.load(sync::relaxed), sync::seq_cst, sync::relaxed)) return mine;
      if (turn % most_writers == most_writers - 1) wait.pause();
    }
  }
  /// Takes a position and writes the entry. Without space the change has none, and the tail says so until the next checkpoint.
  void append(sync::word<std::uint64_t>& mine, pool_layout::log_kind kind, std::string_view key,
              std::string_view value) noexcept {
    const std::uint64_t whole = (sizeof(pool_layout::log_entry) + key.size() + value.size() + 7) / 8 * 8;
    // [log-place] seq_cst: pairs with [log-tail]; if the log is full, its next checkpoint waits for this change
    const std::uint64_t seen = tail_.load(sync::seq_cst);
    if (offset_in(seen) > each_) return;
    // [log-place] seq_cst: pairs with [log-tail]
    const std::uint64_t at = tail_.fetch_add(whole <= each_ ? whole : each_ + 8, sync::seq_cst);
    if (offset_in(at) + whole <= each_) {
      std::byte* to = home_.base() + first_ + (at >> offset_bits) % 2 * each_ + offset_in(at);
      sync::hook(sync::step::store, to); // so that tests stop between the position and its entry
      const pool_layout::log_entry entry{kind, static_cast<std::uint32_t>(key.size()), value.size()};
      std::memcpy(to, &entry, sizeof entry);
      to += sizeof entry;
      std::memcpy(to, key.data(), key.size());
      if (!value.empty()) std::memcpy(to + key.size(), value.data(), value.size());
    }
    // [log-writer] release: pairs with [log-writers]; a sync that sees it writes the entry
    mine.store(at | copied, sync::release);
  }
  /// Waits until each writer whose position is before `end` has copied its entry; with `done`, until it has also made its change. In a
  /// full log all later writers have the position `end` and no entry, so a checkpoint waits for them, too.
  void wait_for_writers(std::uint64_t end, bool done) noexcept {
    for (writer& one : writers_) {
      for (sync::backoff wait;; wait.pause()) {
        // [log-writers] seq_cst: pairs with [log-writer]
        const std::uint64_t at = one.at.load(sync::seq_cst);
        const bool counts = is_before(at, end) || (done && (at & ~copied) == end);
        if (at == 0 || !counts || (!done && (at & copied) != 0)) break;
      }
    }
  }
  static void count(sync::word<std::uint64_t>& number) noexcept {
    number.store(number.load(sync::relaxed) + 1, sync::relaxed); // relaxed, both: under the lock
  }
  /// Makes the group durable that ends there. Under the lock.
  bool write_group(std::uint64_t end) noexcept {
    wait_for_writers(end, !all_done);
    auto& group = *reinterpret_cast<pool_layout::group_header*>(half() + begin_);
    group = {};
    group.file = home_.state().file;
    group.generation = generation_;
    group.number = number_;
    group.bytes = offset_in(end) - begin_ - header;
    group.checksum = pool_layout::checksum_of(group, &group + 1);
    written_ += group.bytes;
    count(groups_);
    return home_.sync_log(home_.offset_of(&group), header + group.bytes);
  }
  /// Says in the file from which generation on the log counts.
  bool count_from(std::uint64_t generation) noexcept {
    home_.update([generation](pool_layout::superblock& s) { s.log = generation; });
    return home_.sync_superblock();
  }

  pool& home_;
  bool on_ = false;
  std::uint64_t first_ = 0; // these two do not change while the table is shared
  std::uint64_t each_ = 0;
  alignas(cpu::cache_line) sync::word<std::uint64_t> tail_; // the next position; behind the half: a change has none
  writer writers_[most_writers];
  small_lock<> lock_;             // the rest
  std::uint64_t generation_ = 0;  // only a checkpoint changes it
  std::uint64_t begin_ = 0;       // of the group that takes entries
  std::uint64_t number_ = 0;      // of that group
  bool complete_ = true;          // no change that waits for a checkpoint is without an entry in the generation before
  std::uint64_t written_ = 0;     // bytes of the groups of this generation, without their headers
  std::uint64_t ended_bytes_ = 0; // only a checkpoint uses it
  sync::word<std::uint64_t> groups_; // these two are read without the lock
  sync::word<std::uint64_t> checkpoints_;
};

namespace log_reading {
/// The header of the group that a sync has covered there, or null.
inline const pool_layout::group_header* group_at(const pool& home, const log_halves& halves, std::uint64_t offset,
                                                 std::uint64_t generation, std::uint64_t number) noexcept {
  if (offset + sizeof(pool_layout::group_header) > halves.each) return nullptr;
  const auto& group = *home.at<pool_layout::group_header>(halves.of(generation) + offset);
  if (group.magic != pool_layout::log_magic || group.file != home.state().file) return nullptr;
  if (group.generation != generation || group.number != number) return nullptr;
  if (group.bytes > halves.each - offset - sizeof group) return nullptr;
  return group.checksum == pool_layout::checksum_of(group, &group + 1) ? &group : nullptr;
}
/// Calls `f(kind, key, value)` for each entry of a group until it returns false, which is then the result.
template <class F> bool for_each_entry(const pool_layout::group_header& group, F f) {
  const char* at = reinterpret_cast<const char*>(&group + 1);
  for (std::uint64_t left = group.bytes; left >= sizeof(pool_layout::log_entry);) {
    pool_layout::log_entry entry;
    std::memcpy(static_cast<void*>(&entry), at, sizeof entry);
    const std::uint64_t data = left - sizeof entry;
    if (entry.kind != pool_layout::log_kind::put && entry.kind != pool_layout::log_kind::erase) return true; // as below
    if (entry.key_bytes > data || entry.value_bytes > data - entry.key_bytes)
      return true; // a group of no version of ours
    const char* const key = at + sizeof entry;
    if (!f(entry.kind, std::string_view(key, entry.key_bytes),
           std::string_view(key + entry.key_bytes, entry.value_bytes)))
      return false;
    const std::uint64_t whole = (std::min)(left, (sizeof entry + entry.key_bytes + entry.value_bytes + 7) / 8 * 8);
    at += whole;
    left -= whole;
  }
  return true;
}
} // namespace log_reading

/// After a power cut: calls `f(kind, key, value)` for each change that a sync of the log has covered and that may not be in the pages, in
/// their order. It ends when `f` returns false, and then returns false.
template <class F> bool for_each_logged(const pool& home, F f) {
  const extent* const area = home.log();
  if (area == nullptr || home.state().log == 0) return true;
  const log_halves halves(*area);
  for (std::uint64_t generation = home.state().log; generation < home.state().log + 2; ++generation) {
    std::uint64_t offset = 0;
    for (std::uint64_t number = 0;; ++number) {
      const auto* const group = log_reading::group_at(home, halves, offset, generation, number);
      if (group == nullptr) break;
      if (!log_reading::for_each_entry(*group, f)) return false;
      offset += (sizeof *group + group->bytes + pool_layout::page - 1) / pool_layout::page * pool_layout::page;
    }
  }
  return true;
}

} // namespace cubby::inline v0::detail
