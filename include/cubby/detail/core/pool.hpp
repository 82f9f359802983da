// SPDX-License-Identifier: Apache-2.0
// One durable file, mapped: superblock, extents, sync. It promises that a change of the superblock is whole, that what was mapped stays
// where it is, and that one process writes at a time (docs/format.md). core/pool_open.hpp opens it, core/pool_heap.hpp has its records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/core/opened_file.hpp>
#include <cubby/detail/core/pool_error.hpp>
#include <cubby/detail/core/pool_layout.hpp>
#include <cubby/detail/core/stable_list.hpp>
#include <cubby/detail/platform/file.hpp>
#include <cubby/detail/platform/persist.hpp>

namespace cubby::inline v0::detail {

/// The states of the extent of a segment. It can be taken. A table or a late lookup has it. It has entries of an ended shrink. Or
/// it was emptied, and a sync has to make that durable.
namespace extent_state {
inline constexpr std::uint32_t free = 0;
inline constexpr std::uint32_t in_use = 1;
inline constexpr std::uint32_t left = 2;
inline constexpr std::uint32_t emptied = 3;
} // namespace extent_state

/// A part of the file that belongs to one purpose. `at`: of its data.
struct extent {
  static constexpr std::uint32_t no_number = ~std::uint32_t{0}; // of a segment that the table has left
  pool_layout::extent_kind kind{};
  std::uint32_t number = 0;
  std::uint64_t at = 0;
  std::uint64_t bytes = 0; // of the data
  std::uint64_t argument = 0;
  sync::word<std::uint32_t> state;
};

/// What opening asks for. The identity's geometry and seed count for a new file.
struct pool_request {
  const char* path = nullptr;
  pool_layout::identity wanted;
  std::uint64_t former_hash = 0; // a file with this identity of a hash is opened, too; 0: none
  bool may_create = true;
  bool must_create = false;
  bool read_only = false;        ///< changes stay in this process: for lookups
  bool accept_power_cut = false; ///< open a `process` file after one: the caller checks its contents
  bool force_line = false;       ///< treat the mapping as `line`: for tests and benches
  std::uint64_t most_bytes = std::uint64_t{1} << 40;
};

class pool {
public:
  static constexpr std::uint64_t most_addresses = std::uint64_t{1} << 47; // of a process; offsets stay below

  pool() = default;
  ~pool() { file::unmap(base_, reserved_); }
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  pool_error open(const pool_request& asked) noexcept; // core/pool_open.hpp
  /// After an `open`, if there is to be no table: nobody may use the mapping any more. The file has what it had.
  void undo_open(const char* path) noexcept;
  /// After all changes: the file says that it is complete. False: the system could not write it.
  bool close(std::uint64_t entries) noexcept {
    update([entries](pool_layout::superblock& s) {
      s.clean = 1;
      s.entries = entries;
    });
    return sync_file();
  }

  [[nodiscard]] CUBBY_ALWAYS_INLINE const persist::medium& medium() const noexcept { return medium_; }
  [[nodiscard]] CUBBY_ALWAYS_INLINE std::byte* base() const noexcept { return base_; }
  [[nodiscard]] std::uint64_t offset_of(const void* at) const noexcept {
    return static_cast<std::uint64_t>(static_cast<const std::byte*>(at) - base_);
  }
  template <class T> [[nodiscard]] T* at(std::uint64_t offset) const noexcept {
    return reinterpret_cast<T*>(base_ + offset);
  }
  [[nodiscard]] pool_layout::zero_entry& zero() const noexcept {
    return *at<pool_layout::zero_entry>(pool_layout::zero_entry_at);
  }
  /// The superblock as it is now. Its state changes only under `update`.
  [[nodiscard]] const pool_layout::superblock& state() const noexcept { return now_; }
  /// Another one in each opening, and in the upper half of the word.
  [[nodiscard]] std::uint64_t opening_number() const noexcept { return now_.sequence << 32; }
  [[nodiscard]] bool is_new() const noexcept { return new_; }
  [[nodiscard]] bool was_clean() const noexcept { return was_clean_; }
  /// The machine has stopped since a writer had the file open: sectors may be older than others.
  [[nodiscard]] bool was_power_cut() const noexcept { return power_cut_; }
  /// The table was closed. The file has its lock until the end of this object.
  void note_closed() noexcept { opened_.note_closed(); }
  [[nodiscard]] bool is_read_only() const noexcept { return read_only_; }
  [[nodiscard]] const stable_list<extent>& extents() const noexcept { return extents_; }
  /// Where the extents end, while other threads may make extents.
  std::uint64_t end_of_extents() noexcept {
    const lock_scope alone(lock_);
    return now_.end;
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return now_.end; }

  /// Writes a changed superblock. A crash leaves the old one or the new one.
  template <class Change> void update(Change change) noexcept {
    const lock_scope alone(lock_);
    update_locked(change);
  }

  /// A new extent with so many bytes of zeros. Null: no disk space, no addresses, or no memory.
  extent* take_extent(pool_layout::extent_kind kind, std::uint32_t number, std::uint64_t bytes,
                      std::uint64_t argument) noexcept {
    const lock_scope alone(lock_);
    const std::uint64_t from = now_.end;
    const std::uint64_t whole =
        (pool_layout::page + bytes + pool_layout::page - 1) / pool_layout::page * pool_layout::page;
    if (whole < bytes || !extend(from + whole)) return nullptr;
    extent* const made = extents_.next();
    if (made == nullptr) return nullptr;
    made->kind = kind;
    made->number = number;
    made->at = from + pool_layout::page;
    made->bytes = whole - pool_layout::page;
    made->argument = argument;
    auto& header = *at<pool_layout::extent_header>(from);
    header.kind = kind;
    header.number = number;
    header.bytes = whole;
    header.argument = argument;
    header.magic = pool_layout::extent_magic;
    header.checksum = pool_layout::checksum_of(header);
    persist::note_stored(&header, sizeof header);
    medium_.persist(&header, sizeof header);
    update_locked([&](pool_layout::superblock& s) { s.end = from + whole; });
    extents_.publish();
    return made;
  }
  /// The extent of a segment, or null.
  [[nodiscard]] extent* segment(std::uint32_t number) const noexcept {
    for (std::size_t i = extents_.size(); i != 0; --i) {
      if (is_of_segment(extents_[i - 1], number)) return &extents_[i - 1];
    }
    return nullptr;
  }
  /// The same of a segment that the table has, or has had: no extent leaves the list.
  [[nodiscard]] extent& made_segment(std::uint32_t number) const noexcept {
    std::size_t i = extents_.size() - 1;
    while (!is_of_segment(extents_[i], number)) --i;
    return extents_[i];
  }
  /// The size that the file may reach.
  [[nodiscard]] std::uint64_t most_bytes() const noexcept { return reserved_; }
  /// The extent whose data begin there.
  [[nodiscard]] extent* extent_at(std::uint64_t data) const noexcept {
    extent* const one = extents_.last_where([&](const extent& e) { return e.at <= data; }); // in the order of the file
    return one != nullptr && one->at == data ? one : nullptr;
  }
  /// Zeros in an extent that lookups have left, and no disk space where the file system can do that. Then `retake` before use.
  void give_back(const extent& one) noexcept {
    if (!is_owner()) return; // the parent may use the extent again
    if (file::give_space(file_.number(), one.at, one.bytes) != 0) std::memset(base_ + one.at, 0, one.bytes);
    persist::note_stored(base_ + one.at, one.bytes);
    medium_.persist(base_ + one.at, one.bytes);
  }
  bool retake(const extent& one) noexcept {
    const int error = in_memory_ ? file::retake_memory(file_.number(), base_, one.at, one.at + one.bytes)
                                 : file::take_space(file_.number(), one.at, one.bytes);
    if (error != 0) return false;
    // the file system has the new state of the extent, but the lines were not written back
    return medium_.domain() < persistence::line || sync_file();
  }

  /// Makes everything durable that was done before. A failure is final: the system may have dropped what it could not write.
  bool sync_file() noexcept {
    const lock_scope alone(sync_lock_);
    if (failure() != 0 || read_only_) return false;
    const std::uint64_t end = begin_sync();
    note_failure(file::sync(file_.number()));
    end_sync();
    if (failure() != 0) return false;
    cover(end);
    return true;
  }
  /// Before `sync_file`, where much was changed. A file in memory is written nowhere; but tests have their files there.
  void let_go_of_pages(std::uint64_t from, std::uint64_t to) noexcept {
    constexpr bool tested = CUBBY_SYNC_HOOKS;
    if ((in_memory_ && !tested) || read_only_ || failure() != 0) return; // the changes of a reader are in no file
    constexpr std::uint64_t at_once = std::uint64_t{64} << 20;           // other calls of the system wait meanwhile
    for (; from < to; from += at_once) file::let_go(base_, from, to - from < at_once ? to - from : at_once);
  }
  /// The superblock alone, after a change of it.
  bool sync_superblock() noexcept {
    const lock_scope alone(sync_lock_);
    if (failure() != 0) return false;
    (void)begin_sync();
    note_failure(file::sync_range(file_.number(), base_, 0, pool_layout::first_extent));
    end_sync();
    return failure() == 0;
  }
  /// Whether the system says which start of the machine this is. Else each crash is taken for a power cut.
  [[nodiscard]] static bool is_boot_known() noexcept {
    std::uint64_t boot[2];
    file::boot_id(boot);
    return boot[0] != 0 || boot[1] != 0;
  }
  /// The extent of the log, or null.
  [[nodiscard]] extent* log() const noexcept {
    for (std::size_t i = 0; i < extents_.size(); ++i)
      if (extents_[i].kind == pool_layout::extent_kind::log) return &extents_[i];
    return nullptr;
  }
  /// Before `sync_log`: maps the log through a descriptor of its own, whose errors no other sync is told of. False: the system cannot.
  bool map_log(const extent& one) noexcept {
    if (log_file_.open_again(file_.number()) != 0) return false;
    return file::map(log_file_.number(), base_ + one.at, one.at, one.bytes, false, false) == 0;
  }
  /// Makes a part of the log durable, beside a sync of the file that may take long. Final as `sync_file`.
  bool sync_log(std::uint64_t from, std::uint64_t bytes) noexcept {
    let_go_of_pages(from, from + bytes); // each of them was changed
    if (failure() == 0) note_failure(file::sync_range(log_file_.number(), base_, from, bytes));
    return failure() == 0;
  }
  /// Recovery after a power cut has ended. Until then the file says that it must be recovered in that way, whatever ends this process.
  void note_recovered() noexcept {
    if (!power_cut_ || read_only_) return;
    update([](pool_layout::superblock& s) { file::boot_id(s.boot); });
  }
  /// Not in the child of a fork: the file and its mapping belong to the parent. A child may neither change nor follow a link in them.
  [[nodiscard]] bool is_owner() const noexcept { return opened_.is_of_this_process(); }
  /// A word for `cubby store load`, durable after the next sync.
  void set_note(std::uint64_t note) noexcept {
    update([note](pool_layout::superblock& s) { s.note = note; });
  }
  /// The errno of the sync that failed, or 0.
  [[nodiscard]] int failure() const noexcept {
    return failed_.load(sync::relaxed);
  } // relaxed: it says nothing of other words

private:
  static bool is_of_segment(const extent& one, std::uint32_t number) noexcept {
    return one.kind == pool_layout::extent_kind::segment && one.number == number;
  }
  void note_failure(int error) noexcept {
    if (error != 0) failed_.store(error, sync::relaxed); // relaxed: as in failure
  }
  /// A sync has made the file durable up to `end`. The next change of the superblock says so.
  void cover(std::uint64_t end) noexcept {
    const lock_scope alone(lock_);
    if (end > now_.covered) now_.covered = end;
  }
  /// Writes over none of three copies. A kill leaves the newest one before this. A power cut leaves the one that the last sync has made durable, or that
  /// of a sync under way. The others may be torn then: a disk may have taken any of them while it was written (docs/format.md, Superblock).
  template <class Change> void update_locked(Change change) noexcept {
    change(now_);
    now_.format = pool_layout::version;
    ++now_.sequence;
    now_.checksum = pool_layout::checksum_of(now_);
    unsigned copy = 0;
    while (copy == newest_ || copy == durable_ || copy == syncing_) ++copy;
    std::byte* const to = base_ + pool_layout::copy_at[copy];
    std::memcpy(to, &now_, sizeof now_);
    persist::note_stored(to, sizeof now_);
    medium_.persist(to, sizeof now_);
    newest_ = copy;
    if (medium_.domain() >= persistence::line) durable_ = copy;
  }
  /// Around a sync: the copy that it makes durable is not written meanwhile. Returns where the extents end before it.
  std::uint64_t begin_sync() noexcept {
    const lock_scope alone(lock_);
    syncing_ = newest_;
    return now_.end;
  }
  void end_sync() noexcept {
    const lock_scope alone(lock_);
    if (failure() == 0) durable_ = syncing_;
    syncing_ = no_copy;
  }
  /// Disk space and addresses up to `end`.
  bool extend(std::uint64_t end) noexcept {
    if (end <= mapped_) return true;
    std::uint64_t tried = 0;
    for (const std::uint64_t to : {ahead_of(end), end}) {
      if (to == tried) break; // it was refused
      tried = to;
      const std::uint64_t from = mapped_;
      if (to > reserved_ || !map_to(to)) continue;
      if (const int error = take_space(from, to); error != 0) {
        mapped_ = from;
        continue;
      }
      if (medium_.domain() < persistence::line) return true;
      note_failure(file::sync(file_.number())); // the size of the file
      return failure() == 0;
    }
    return false;
  }
  /// Where to extend to. A disk only notes what it gives: an eighth more, so that few calls do it. Memory is cleared at once, while other
  /// threads wait: what is needed, in whole huge pages where one is little beside the file.
  [[nodiscard]] std::uint64_t ahead_of(std::uint64_t end) const noexcept {
    const bool by_pages = in_memory_ && end >= 8 * file::huge_page;
    const std::uint64_t unit = by_pages ? file::huge_page : pool_layout::page;
    const std::uint64_t ahead = by_pages ? 0 : end / 8 < most_ahead ? end / 8 : most_ahead;
    return (end + ahead + unit - 1) / unit * unit;
  }
  int take_space(std::uint64_t from, std::uint64_t to) noexcept {
    if (read_only_) return 0;
    return in_memory_ ? file::take_memory(file_.number(), base_, from, to)
                      : file::take_space(file_.number(), from, to - from);
  }
  bool map_to(std::uint64_t end) noexcept {
    if (end > reserved_) return false;
    const bool direct = direct_ && !read_only_;
    // what a reader's repairs need beside the file stays in memory, and begins in a page of its own
    const std::uint64_t in_file = size_ / pool_layout::page * pool_layout::page;
    const bool beside = read_only_ && end > in_file;
    const std::uint64_t to = beside ? in_file : end;
    if (mapped_ < to && file::map(file_.number(), base_ + mapped_, mapped_, to - mapped_, read_only_, direct) != 0)
      return false;
    const std::uint64_t from = mapped_ < to ? to : mapped_;
    if (beside && file::map_memory(base_ + from, end - from) != 0) return false;
    mapped_ = end;
    return true;
  }

  int open_or_make(const pool_request& asked) noexcept;
  pool_error begin(const pool_request& asked) noexcept;
  pool_error open_in(const pool_request& asked) noexcept;
  pool_error begin_writing(const pool_request& asked, std::uint64_t size) noexcept;
  pool_error create(const pool_request& asked, std::uint64_t size) noexcept;
  pool_error create_in(const pool_request& asked) noexcept;
  pool_error read_superblock(const pool_request& asked, std::uint64_t size) noexcept;
  pool_error check_identity(const pool_request& asked) const noexcept;
  pool_error map_file(const pool_request& asked, std::uint64_t size) noexcept;
  pool_error read_extents(const pool_request& asked) noexcept;
  [[nodiscard]] bool is_unmade(std::uint64_t size) const noexcept;
  /// Whether the file has segments of slots. Without them its records are all there is.
  [[nodiscard]] bool has_slots() const noexcept { return now_.what.fronts != 0; }
  [[nodiscard]] bool has_segments() const noexcept;
  void drop_left_tops() noexcept;
  static bool is_valid(const pool_layout::extent_header& h, std::uint64_t left) noexcept;
  [[nodiscard]] static bool is_cut_short(const pool_layout::superblock& read) noexcept;

  static constexpr std::uint64_t least_reserved = std::uint64_t{256} << 20;
  static constexpr std::uint64_t most_ahead = std::uint64_t{64} << 20;
  static constexpr std::uint64_t most_fronts = std::uint64_t{1} << 46;

  file::descriptor file_;
  bool made_here_ = false;  // it was not there before this table was opened
  bool made_table_ = false; // it had `size_before_` zeros at most
  std::uint64_t size_before_ = 0;
  opened_file opened_;
  persist::medium medium_;
  std::byte* base_ = nullptr;
  std::uint64_t reserved_ = 0;
  std::uint64_t mapped_ = 0;
  std::uint64_t size_ = 0; // the end of the last extent when it was opened
  pool_layout::superblock now_;
  stable_list<extent> extents_; // in the order of the file
  small_lock<> lock_;           // superblock and extents
  small_lock<> sync_lock_;      // one sync at a time
  file::descriptor log_file_;
  sync::word<int> failed_; // the errno of the sync that failed
  static constexpr unsigned no_copy = pool_layout::superblock_copies;
  unsigned newest_ = 0;        // of the copies of the superblock, these three; under `lock_`
  unsigned durable_ = 0;       // since the last sync that has ended
  unsigned syncing_ = no_copy; // that a sync under way makes durable
  bool new_ = false;
  bool was_clean_ = false;
  bool power_cut_ = false;
  bool read_only_ = false;
  bool direct_ = false;
  bool in_memory_ = false; // the file is of a file system in memory
};

} // namespace cubby::inline v0::detail

#include <cubby/detail/core/pool_open.hpp>
