// SPDX-License-Identifier: Apache-2.0
// How a durable file is opened or made. Nothing is written before all checks have passed, and a file that is being made becomes one by
// its superblock, which comes last.
#pragma once

#include <cubby/detail/core/block_size.hpp>
#include <cubby/detail/core/pool.hpp>
#include <cubby/detail/platform/entropy.hpp>

namespace cubby::inline v0::detail {

namespace pool_texts {
inline pool_error system(const char* path, const char* doing, int error) noexcept {
  open_error code = open_error::io;
  const char* advice = "check the file system";
  if (error == ENOENT) {
    code = open_error::not_found;
    advice = "check the path";
  } else if (error == EACCES || error == EPERM || error == EROFS) {
    code = open_error::no_permission;
    advice = error == EROFS ? "open it for lookups, or copy it to a file system that can be written"
                            : "ask for permission to the file and its folder";
  } else if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    code = open_error::no_space;
    advice = "free disk space";
  } else if (error == EEXIST) {
    code = open_error::exists;
    advice = "name another file";
  } else if (error == EISDIR) {
    code = open_error::foreign;
    advice = "name a file";
  }
  return pool_error::of(code, path, "cannot %s: %s; %s", doing, std::strerror(error), advice);
}
inline pool_error in_use(const char* path, file_holder who, bool read_only) noexcept {
  const char* why = read_only ? "another process has it open for writing; close that one first"
                              : "another process has it open; close that one first";
  if (who == file_holder::this_process)
    why = read_only ? "this process has it open for writing; end that table first"
                    : "this process has it open already; end that table first";
  if (who == file_holder::closed_here) why = "a table of this process was closed, but still exists; end it first";
  return pool_error::of(open_error::in_use, path, "in use: %s", why);
}
} // namespace pool_texts

/// Opens the file, or makes it if it is not there and that is asked for. Then a failure removes it again.
inline int pool::open_or_make(const pool_request& asked) noexcept {
  const bool only_new = asked.must_create && !asked.read_only;
  const int error = only_new ? ENOENT : file_.open(asked.path, asked.read_only ? O_RDONLY : O_RDWR);
  if (error != ENOENT || asked.read_only || !asked.may_create) return error;
  const int making = file_.open(asked.path, O_RDWR | O_CREAT | O_EXCL);
  made_here_ = making == 0;
  // another process has made it since, or the path is a link to a file that is not there
  return making == EEXIST && !only_new ? file_.open(asked.path, O_RDWR | O_CREAT) : making;
}
inline pool_error pool::begin(const pool_request& asked) noexcept {
  if (const int error = open_or_make(asked); error != 0) return pool_texts::system(asked.path, "open it", error);
  if (const int error = file::lock(file_.number(), !asked.read_only); error != 0) {
    made_here_ = false; // who has the lock may make it into a table
    if (error != EWOULDBLOCK) return pool_texts::system(asked.path, "lock it", error);
    return pool_texts::in_use(asked.path, opened_file::holder_of(file_.number()), asked.read_only);
  }
  opened_.begin(file_.number());
  return {};
}

/// Opens or makes the file, and marks it as not closed. If it fails, the file has what it had, but perhaps in a newer version of the format.
inline pool_error pool::open(const pool_request& asked) noexcept {
  pool_error e = open_in(asked);
  // Another open may have made the file, failed and removed it before this one had its lock. A table here would be lost.
  if (e.ok() && !asked.read_only && !file::is_named(asked.path, file_.number()))
    e = pool_error::of(open_error::in_use, asked.path, "removed while it was opened; open it again");
  if (!e.ok()) undo_open(asked.path);
  return e;
}
/// Makes an empty file into a table without entries.
inline pool_error pool::create(const pool_request& asked, std::uint64_t size) noexcept {
  made_table_ = true;
  size_before_ = size;
  pool_error e = create_in(asked);
  if (e.ok()) return e;
  file::unmap(base_, reserved_);
  base_ = nullptr;
  return e;
}
/// A file that was made by this call is removed. One that had zeros has them again, which are no table either. One that was closed is closed again.
inline void pool::undo_open(const char* path) noexcept {
  if (made_here_) {
    if (file::is_named(path, file_.number())) file::remove(path); // the name may lead to a file of another process now
  } else if (made_table_) {
    if (file::cut(file_.number(), 0) == 0) (void)file::cut(file_.number(), size_before_);
  } else if (was_clean_ && now_.clean == 0 && sync_file()) { // recovery may have changed something: that first
    (void)close(now_.entries);
  }
}
inline pool_error pool::create_in(const pool_request& asked) noexcept {
  if (const int error = file::take_space(file_.number(), 0, pool_layout::first_extent); error != 0)
    return pool_texts::system(asked.path, "take disk space for it", error);
  now_.file = random_seed();
  now_.what = asked.wanted;
  new_ = was_clean_ = true;
  if (pool_error e = map_file(asked, pool_layout::first_extent); !e.ok()) return e;
  // the sizes and the zeros first: a crash before the end of the superblock leaves a file that `is_unmade`
  if (const int error = file::sync(file_.number()); error != 0) return pool_texts::system(asked.path, "sync it", error);
  file::boot_id(now_.boot);
  update([](pool_layout::superblock&) {});
  if (!sync_file()) return pool_texts::system(asked.path, "sync it", failure());
  const int error = now_.what.promise != 0 ? file::sync_folder_of(asked.path, file_.number()) : 0;
  return error == 0 ? pool_error{} : pool_texts::system(asked.path, "sync its folder", error);
}

inline pool_error pool::read_superblock(const pool_request& asked, std::uint64_t size) noexcept {
  bool any_magic = false;
  bool newer = false;
  bool any = false;
  for (unsigned copy = 0; copy < pool_layout::superblock_copies; ++copy) {
    const std::uint64_t from = pool_layout::copy_at[copy];
    pool_layout::superblock read;
    if (size < from + sizeof read || file::read_at(file_.number(), from, &read, sizeof read) != 0) continue;
    if (read.magic != pool_layout::file_magic) continue;
    any_magic = true;
    newer = newer || read.format > pool_layout::version;
    if (read.checksum != pool_layout::checksum_of(read) || read.size != sizeof read) continue;
    if (!any || read.sequence > now_.sequence) {
      now_ = read;
      newest_ = durable_ = copy;
    }
    any = true;
  }
  if (newer) return pool_error::of(open_error::newer, asked.path, "made by a newer version of cubby; use that version");
  if (!any_magic)
    return pool_error::of(open_error::foreign, asked.path, "not a durable table of cubby; name another file");
  if (!any)
    return pool_error::of(open_error::damaged, asked.path,
                          "damaged: all copies of the superblock; restore a copy of the file");
  if (now_.end % pool_layout::page != 0)
    return pool_error::of(open_error::damaged, asked.path, "damaged: impossible sizes; restore a copy of the file");
  std::uint64_t boot[2];
  file::boot_id(boot);
  const bool unknown = boot[0] == 0 && boot[1] == 0 && now_.what.promise != 0;
  was_clean_ = now_.clean != 0;
  power_cut_ = !was_clean_ && (unknown || boot[0] != now_.boot[0] || boot[1] != now_.boot[1]);
  // A power cut may leave a superblock that is newer than the size of the file: no sync has covered what is missing.
  if (power_cut_ && now_.what.promise != 0 && size < now_.end && size >= now_.covered)
    now_.end = size / pool_layout::page * pool_layout::page;
  if (size < now_.end || now_.end < pool_layout::first_extent)
    return pool_error::of(open_error::truncated, asked.path,
                          "truncated: it has %llu bytes of %llu; restore a copy of the file",
                          static_cast<unsigned long long>(size), static_cast<unsigned long long>(now_.end));
  return {};
}

/// The bytes of a key or a value in words: a file says 0 of text, and all bits of no value.
struct size_in_words {
  size_in_words(std::uint32_t bytes, std::uint32_t alignment) noexcept {
    if (bytes == 0 || bytes == ~0U) (void)std::snprintf(text, sizeof(text), "%s", bytes == 0 ? "text" : "none");
    else (void)std::snprintf(text, sizeof(text), "%u bytes, aligned to %u", bytes, alignment);
  }
  char text[48];
};

inline pool_error pool::check_identity(const pool_request& asked) const noexcept {
  const auto& is = now_.what;
  const auto& wanted = asked.wanted;
  if (is.engine != wanted.engine)
    return pool_error::of(open_error::other_layout, asked.path, "made by another engine; open it with that one");
  if (is.key_bytes != wanted.key_bytes || is.key_alignment != wanted.key_alignment)
    return pool_error::of(
        open_error::other_key, asked.path, "its keys: %s; those of the table: %s; use the types with which it was made",
        size_in_words(is.key_bytes, is.key_alignment).text, size_in_words(wanted.key_bytes, wanted.key_alignment).text);
  if (is.value_bytes != wanted.value_bytes || is.value_alignment != wanted.value_alignment)
    return pool_error::of(open_error::other_value, asked.path,
                          "its values: %s; those of the table: %s; use the types with which it was made",
                          size_in_words(is.value_bytes, is.value_alignment).text,
                          size_in_words(wanted.value_bytes, wanted.value_alignment).text);
  if (is.hash != wanted.hash && (asked.former_hash == 0 || is.hash != asked.former_hash))
    return pool_error::of(open_error::other_hash, asked.path, "made with another hash function; use that one");
  if (is.mode != wanted.mode || is.slot_bytes != wanted.slot_bytes || is.key_words != wanted.key_words ||
      is.value_words != wanted.value_words)
    return pool_error::of(open_error::other_layout, asked.path,
                          "made with other slots; use the types with which it was made");
  const bool sizes = wanted.fronts == 0 ? !has_slots()
                                        : has_slots() && is.backs != 0 && is.backs <= is.fronts && now_.level <= 40 &&
                                              is.fronts <= most_fronts >> now_.level;
  if (!sizes)
    return pool_error::of(open_error::damaged, asked.path, "damaged: impossible sizes; restore a copy of the file");
  return {};
}

inline pool_error pool::map_file(const pool_request& asked, std::uint64_t size) noexcept {
  read_only_ = asked.read_only;
  size_ = size;
  reserved_ = asked.most_bytes < most_addresses ? asked.most_bytes : most_addresses;
  if (reserved_ < size) reserved_ = size;
  reserved_ = (reserved_ + pool_layout::page - 1) / pool_layout::page * pool_layout::page;
  // fewer addresses where the process may not have so many
  while ((base_ = file::reserve(reserved_)) == nullptr && reserved_ / 4 > 2 * size && reserved_ / 4 > least_reserved)
    reserved_ = reserved_ / 4 / pool_layout::page * pool_layout::page;
  if (base_ == nullptr)
    return pool_error::of(open_error::no_memory, asked.path,
                          "no addresses to map it; raise the limit of virtual memory");
  persistence domain = persistence::process;
  if (now_.what.promise != 0 && !read_only_) domain = persist::detect(file_.number());
  direct_ = domain >= persistence::line;
  if (asked.force_line) domain = persist::forced_domain();
  medium_ = persist::medium(domain);
  if (!map_to(size / pool_layout::page * pool_layout::page))
    return pool_error::of(open_error::no_memory, asked.path, "cannot map it: %s; raise the limit of virtual memory",
                          std::strerror(errno));
  in_memory_ = file::is_in_memory(file_.number());
  if (in_memory_) file::ask_for_huge_pages(base_, 0, mapped_);
  return {};
}

inline pool_error pool::read_extents(const pool_request& asked) noexcept {
  for (std::uint64_t from = pool_layout::first_extent; from < now_.end;) {
    const auto& header = *at<pool_layout::extent_header>(from);
    if (!is_valid(header, now_.end - from)) {
      // after a power cut: an extent that no sync has covered, and so nothing behind it either
      if (power_cut_ && medium_.domain() <= persistence::page && from >= now_.covered) {
        now_.end = mapped_ = size_ = from;
        break;
      }
      return pool_error::of(open_error::damaged, asked.path,
                            "damaged: the extent at byte %llu; restore a copy of the file",
                            static_cast<unsigned long long>(from));
    }
    extent* const one = extents_.next();
    if (one == nullptr) return pool_error::of(open_error::no_memory, asked.path, "no memory for its extents");
    one->kind = header.kind;
    one->number = header.number;
    one->at = from + pool_layout::page;
    one->bytes = header.bytes - pool_layout::page;
    one->argument = header.argument;
    extents_.publish();
    from += header.bytes;
  }
  if (power_cut_) drop_left_tops();
  if (!has_segments())
    return pool_error::of(open_error::damaged, asked.path, "damaged: a segment is missing; restore a copy of the file");
  return {};
}
/// Whether an extent can be what its header says, in `left` bytes.
inline bool pool::is_valid(const pool_layout::extent_header& h, std::uint64_t left) noexcept {
  if (h.magic != pool_layout::extent_magic || h.checksum != pool_layout::checksum_of(h)) return false;
  if (h.bytes < pool_layout::page || h.bytes % pool_layout::page != 0 || h.bytes > left) return false;
  const std::uint64_t data = h.bytes - pool_layout::page;
  if (h.kind != pool_layout::extent_kind::records) return true;
  return block_size::is_one(h.argument) && h.argument <= data && data >= pool_layout::least_record_bytes &&
         data <= pool_layout::most_record_bytes;
}
/// After a power cut in a growth the extent of its segment may be missing. An earlier one of the same number, which a shrink has left, is not
/// that segment: it may have entries that were erased since.
inline void pool::drop_left_tops() noexcept {
  for (extent* one = segment(now_.level); now_.top != 0 && one != nullptr && one->at != now_.top;) {
    one->number = extent::no_number;
    one = segment(now_.level);
  }
}
/// Whether the segments in use are there, each with all its slots. After a power cut the last ones may be missing, and the first one is
/// made after the superblock.
inline bool pool::has_segments() const noexcept {
  const auto& is = now_.what;
  if (!has_slots()) return true;
  for (unsigned number = 0; number <= now_.level; ++number) {
    const extent* const there = segment(number);
    if (there == nullptr && (power_cut_ || (now_.level == 0 && !was_clean_))) continue;
    const std::uint64_t share = number == 0 ? 1 : std::uint64_t{1} << (number - 1);
    const std::uint64_t slots = 56 * is.fronts + 8 * is.backs; // docs/format.md, Extents
    if (there == nullptr || there->bytes / is.slot_bytes < slots * share) return false;
  }
  return true;
}

inline pool_error pool::open_in(const pool_request& asked) noexcept {
  if (pool_error e = begin(asked); !e.ok()) return e;
  std::uint64_t size = 0;
  bool regular = false;
  if (const int error = file::size_of(file_.number(), size, regular); error != 0)
    return pool_texts::system(asked.path, "ask for its size", error);
  if (size != 0) made_here_ = false; // another open has made it into a table before this one had the lock
  if (!regular) return pool_error::of(open_error::foreign, asked.path, "not a regular file; name another file");
  if (size <= pool_layout::first_extent && asked.may_create && !asked.read_only && is_unmade(size))
    return create(asked, size);
  if (pool_error e = read_superblock(asked, size); !e.ok()) return e;
  if (pool_error e = check_identity(asked); !e.ok()) return e;
  if (power_cut_ && now_.what.promise == 0 && !asked.accept_power_cut)
    return pool_error::of(
        open_error::power_cut, asked.path,
        "the machine has stopped while it was open, and it was made to survive only the end of a process; "
        "load it again, or open it with accept_power_cut and check its contents");
  if (pool_error e = map_file(asked, now_.end); !e.ok()) return e;
  if (pool_error e = read_extents(asked); !e.ok()) return e;
  if (read_only_) return {};
  return begin_writing(asked, size);
}
/// Marks the file as not closed.
inline pool_error pool::begin_writing(const pool_request& asked, std::uint64_t size) noexcept {
  // Which copy of the superblock the disk has is not known after a kill. Now it has the newest one. It is stored again, because the system may
  // have dropped it in a sync that has failed.
  volatile auto& newest = *at<std::uint64_t>(pool_layout::copy_at[newest_]);
  const std::uint64_t magic = newest;
  newest = magic;
  const bool synced = sync_superblock();
  if (synced) {
    update([&](pool_layout::superblock& s) {
      s.clean = 0;
      if (!power_cut_) file::boot_id(s.boot); // else `note_recovered` does
    });
  }
  if (!synced || !sync_file()) // no change may reach the disk before the mark does
    return pool_texts::system(asked.path, "sync it", failure());
  // What a crash has left behind the end is no zeros, and no part of an extent that is made there. Neither is what somebody has appended.
  if (size == now_.end) return {};
  const int error = file::cut(file_.number(), now_.end);
  return error == 0 ? pool_error{} : pool_texts::system(asked.path, "cut it", error);
}
/// Whether the copy of the superblock that `create` writes is one that a crash has cut short.
inline bool pool::is_cut_short(const pool_layout::superblock& read) noexcept {
  const bool magic = read.magic == 0 || read.magic == pool_layout::file_magic;
  const bool format = (read.format == 0 && read.size == 0) || (read.format >= pool_layout::first_version &&
                                                               read.format <= pool_layout::version && read.size == 512);
  if (!magic || !format || read.checksum == pool_layout::checksum_of(read)) return false;
  for (const std::uint64_t word : read.unused)
    if (word != 0) return false;
  return true;
}
/// Whether a file that is no larger than the part before the extents is new, or was cut short while it was made. Such a file has
/// only zeros, but for a part of the superblock.
inline bool pool::is_unmade(std::uint64_t size) const noexcept {
  char read[512];
  static_assert(sizeof read == sizeof(pool_layout::superblock) && pool_layout::copy_at[1] % sizeof read == 0);
  for (std::uint64_t from = 0; from < size; from += sizeof read) {
    const std::uint64_t left = size - from;
    const std::size_t part = left < sizeof read ? static_cast<std::size_t>(left) : sizeof read;
    if (file::read_at(file_.number(), from, read, part) != 0) return false;
    bool zeros = true;
    for (std::size_t i = 0; i < part; ++i) zeros = zeros && read[i] == 0;
    if (zeros) continue;
    pool_layout::superblock block;
    if (from != pool_layout::copy_at[1] || part != sizeof block) return false;
    std::memcpy(static_cast<void*>(&block), read, sizeof block);
    if (!is_cut_short(block)) return false;
  }
  return true;
}

} // namespace cubby::inline v0::detail
