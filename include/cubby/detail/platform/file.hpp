// SPDX-License-Identifier: Apache-2.0
// Files for durable tables: open, lock, extend, map, sync. Each function answers with an errno, 0 for success.
#pragma once

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cubby/detail/platform/persist.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace cubby::inline v0::detail::file {

/// A descriptor, closed at its end. Closing it gives up its lock.
class descriptor {
public:
  descriptor() = default;
  ~descriptor() { close(); }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;

  int open(const char* path, int flags) noexcept {
    // without waiting for the other end of a pipe, which is no file of ours
    number_ = ::open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
    return number_ < 0 ? errno : 0;
  }
  /// Another one for the same file, with errors of its own: each descriptor is told once that a page could not be written.
  int open_again(int file) noexcept {
    char path[40];
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return open(path, O_RDWR);
  }
  void close() noexcept {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  [[nodiscard]] int number() const noexcept { return number_; }

private:
  int number_ = -1;
};

/// One writer, or any number of readers. The kernel gives the lock up when the process ends, however it ends.
inline int lock(int file, bool alone) noexcept {
  return flock(file, (alone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 ? 0 : errno;
}
inline int size_of(int file, std::uint64_t& bytes, bool& regular) noexcept {
  struct stat about = {};
  if (fstat(file, &about) != 0) return errno;
  bytes = static_cast<std::uint64_t>(about.st_size);
  regular = S_ISREG(about.st_mode);
  return 0;
}
/// What is the same for all descriptors of a file, and for no other file that exists.
struct identity {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  bool operator==(const identity&) const = default;
};
inline identity identity_of(int file) noexcept {
  struct stat about = {};
  if (fstat(file, &about) != 0) return {};
  return {about.st_dev, about.st_ino};
}
/// Whether this path names the open file.
inline bool is_named(const char* path, int file) noexcept {
  struct stat about = {};
  return ::stat(path, &about) == 0 && identity{about.st_dev, about.st_ino} == identity_of(file);
}
/// Reads exactly so many bytes; EIO if the file is shorter.
inline int read_at(int file, std::uint64_t from, void* to, std::size_t bytes) noexcept {
  auto* at = static_cast<char*>(to);
  while (bytes != 0) {
    const ssize_t got = pread(file, at, bytes, static_cast<off_t>(from));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : EIO;
    at += got;
    from += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return 0;
}

#if CUBBY_SYNC_HOOKS
using refuse_function = int (*)();
/// Called before space is taken; an errno refuses it.
inline refuse_function& installed_refusal() noexcept {
  static refuse_function one = nullptr;
  return one;
}
inline int refused() noexcept { return installed_refusal() == nullptr ? 0 : installed_refusal()(); }
using sync_range_function = int (*)(int file, std::uint64_t from, std::uint64_t bytes);
/// Called instead of a sync of a part of a file; an errno fails it.
inline sync_range_function& installed_sync_range() noexcept {
  static sync_range_function one = nullptr;
  return one;
}
using sync_function = int (*)(int file);
/// Called instead of a sync; an errno fails it.
inline sync_function& installed_sync() noexcept {
  static sync_function one = nullptr;
  return one;
}
/// The same of a folder.
inline sync_function& installed_folder_sync() noexcept {
  static sync_function one = nullptr;
  return one;
}
#else
inline int refused() noexcept { return 0; }
#endif

constexpr long tmpfs = 0x01021994;
/// Whether the pages of a file are memory and nothing else: tmpfs, as /dev/shm is.
inline bool is_in_memory(int file) noexcept {
  struct statfs of{};
  return fstatfs(file, &of) == 0 && of.f_type == tmpfs;
}
/// Bytes of [from, from + bytes) that were written. Pages that were taken and not written are not among them.
inline std::uint64_t written_in(int file, std::uint64_t from, std::uint64_t bytes) noexcept {
  std::uint64_t sum = 0;
  const std::uint64_t end = from + bytes;
  while (from < end) {
    const off_t data = lseek(file, static_cast<off_t>(from), SEEK_DATA);
    const off_t hole = data < 0 ? -1 : lseek(file, data, SEEK_HOLE);
    if (hole < 0 || static_cast<std::uint64_t>(data) >= end) break;
    from = static_cast<std::uint64_t>(hole) < end ? static_cast<std::uint64_t>(hole) : end;
    sum += from - static_cast<std::uint64_t>(data);
  }
  return sum;
}
/// Whether a file in memory cannot have so many bytes behind its first `from`. The system would take all pages that are left, one by one, and
/// give them back: a growth asks again and again. A disk says at once that it is full.
inline bool lacks_pages(int file, std::uint64_t from, std::uint64_t bytes) noexcept {
  struct statfs of{};
  // without blocks: a tmpfs without a limit
  if (fstatfs(file, &of) != 0 || of.f_type != tmpfs || of.f_blocks == 0) return false;
  const auto page = static_cast<std::uint64_t>(of.f_bsize);
  return bytes / page > of.f_bfree && (bytes - written_in(file, from, bytes)) / page > of.f_bfree;
}

/// Takes the space of a range from the system.
inline int allocate(int file, std::uint64_t from, std::uint64_t bytes) noexcept {
  int error = 0;
  do error = posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(bytes));
  while (error == EINTR);
  return error;
}
/// Takes disk space for [from, from + bytes), which then reads as zeros where nothing was written. Without it a store into a hole of a
/// full disk would end the process.
inline int take_space(int file, std::uint64_t from, std::uint64_t bytes) noexcept {
  if (const int error = refused(); error != 0) return error;
  if (lacks_pages(file, from, bytes)) return ENOSPC;
  return allocate(file, from, bytes);
}
/// Gives disk space back; the range then reads as zeros. Not all file systems can.
inline int give_space(int file, std::uint64_t from, std::uint64_t bytes) noexcept {
  const int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  return fallocate(file, mode, static_cast<off_t>(from), static_cast<off_t>(bytes)) == 0 ? 0 : errno;
}
/// Makes a file shorter.
inline int cut(int file, std::uint64_t bytes) noexcept {
  return ftruncate(file, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
}
inline void remove(const char* path) noexcept { (void)::unlink(path); }
inline int sync(int file) noexcept {
#if CUBBY_SYNC_HOOKS
  if (installed_sync() != nullptr) return installed_sync()(file);
#endif
  int error = 0;
  do error = fdatasync(file) == 0 ? 0 : errno;
  while (error == EINTR);
  return error;
}

/// Before a sync that has many pages of a shared mapping to write: unmaps all pages of [from, from + bytes) together, and the next access maps them
/// again. Otherwise the system unmaps them one by one as it writes them, and each time interrupts all processors that run this process. That takes
/// longer than to write them (docs/performance/raw.md, "Pages let go before a sync"). A hint: locked pages, and what follows them, stay mapped.
inline void let_go(std::byte* at, std::uint64_t from, std::uint64_t bytes) noexcept {
  const auto before = from % static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  (void)madvise(at + (from - before), bytes + before,
                MADV_DONTNEED); // of a shared mapping: the file keeps what was written
}
/// Makes [from, from + bytes) of a mapping from `at`, which begins with a page, durable, and with it no other changed page.
inline int sync_range([[maybe_unused]] int file, std::byte* at, std::uint64_t from, std::uint64_t bytes) noexcept {
#if CUBBY_SYNC_HOOKS
  if (installed_sync_range() != nullptr) return installed_sync_range()(file, from, bytes);
#endif
  const auto before = from % static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return msync(at + (from - before), bytes + before, MS_SYNC) == 0 ? 0 : errno;
}

inline int sync_folder(int folder) noexcept {
#if CUBBY_SYNC_HOOKS
  if (installed_folder_sync() != nullptr) return installed_folder_sync()(folder);
#endif
  return fsync(folder) == 0 || errno == EINVAL ? 0 : errno;
}
/// Makes the name of a new file durable; of a symbolic link that of its target. Not all file systems can do that, and not in a folder that may not
/// be read: then it is durable when they say so. A path in /proc may lead to a file without a name.
inline int sync_folder_of(const char* path, int file) noexcept {
  char target[PATH_MAX];
  if (::realpath(path, target) != nullptr && is_named(target, file)) path = target;
  char folder[PATH_MAX] = ".";
  if (const char* const slash = std::strrchr(path, '/'); slash != nullptr) {
    const auto size = static_cast<std::size_t>(slash - path) + 1;
    if (size >= sizeof folder) return ENAMETOOLONG;
    std::memcpy(folder, path, size);
    folder[size] = 0;
  }
  const int at = ::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (at < 0) return errno == EACCES ? 0 : errno;
  const int error = sync_folder(at);
  ::close(at);
  return error;
}

constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;

/// Addresses for a mapping that grows in place, from the beginning of a huge page. Null: none.
inline std::byte* reserve(std::uint64_t bytes) noexcept {
  void* const got = mmap(nullptr, bytes + huge_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return nullptr;
  auto* const from = static_cast<std::byte*>(got);
  const std::uint64_t before = (huge_page - reinterpret_cast<std::uintptr_t>(from) % huge_page) % huge_page;
  if (before != 0) (void)munmap(from, before);
  (void)munmap(from + before + bytes, huge_page - before);
  return from + before;
}
/// Calls `f(begin, bytes)` for the huge pages that begin in [from, to), or before it in one with `from`, and that end there.
template <class F> void for_huge_pages(std::uint64_t from, std::uint64_t to, F f) noexcept {
  const std::uint64_t first = from / huge_page * huge_page;
  const std::uint64_t end = to / huge_page * huge_page;
  if (first < end) f(first, end - first);
}
/// Asks for huge pages for [at + from, at + to) of a mapping from `at`, which begins with a huge page, of a file in memory. On a disk each
/// fault would read, and each sync write, all of a huge page.
inline void ask_for_huge_pages(std::byte* at, std::uint64_t from, std::uint64_t to) noexcept {
  for_huge_pages(from, to,
                 [at](std::uint64_t begin, std::uint64_t bytes) { (void)madvise(at + begin, bytes, MADV_HUGEPAGE); });
}
/// Takes memory for [from, to) of a file in memory, mapped from `at` on: in huge pages where the system can, whatever its default is. A
/// huge page that is made before its small ones is cleared once, and nothing is copied into it. Its first small page has to be there.
/// What was taken before the rest was refused stays. An errno.
inline int fill_memory(int file, std::byte* at, std::uint64_t from, std::uint64_t to) noexcept {
#if defined(MADV_COLLAPSE)
  constexpr int collapse = MADV_COLLAPSE;
#else
  constexpr int collapse = 25; // since Linux 6.1; older ones refuse it
#endif
  ask_for_huge_pages(at, from, to);
  for_huge_pages(from, to, [=](std::uint64_t begin, std::uint64_t bytes) {
    for (std::uint64_t page = begin; page < begin + bytes; page += huge_page)
      if (allocate(file, page, 1) != 0) return; // the last call says so
    (void)madvise(at + begin, bytes, collapse);
  });
  const int error = refused();
  return error != 0 ? error : allocate(file, from, to - from); // not `take_space`: the pages are no longer free
}
/// `take_space` for a file in memory of which nothing behind `from` is needed.
inline int take_memory(int file, std::byte* at, std::uint64_t from, std::uint64_t to) noexcept {
  if (lacks_pages(file, from, to - from)) return ENOSPC;
  const int error = ftruncate(file, static_cast<off_t>(to)) == 0 ? fill_memory(file, at, from, to) : errno;
  if (error != 0) (void)cut(file, from);
  return error;
}
/// `take_space` for a part of a file in memory that `give_space` has emptied. What lies before it in its first huge page gets memory, too,
/// and keeps it.
inline int retake_memory(int file, std::byte* at, std::uint64_t from, std::uint64_t to) noexcept {
  if (lacks_pages(file, from, to - from)) return ENOSPC;
  const int error = fill_memory(file, at, from, to);
  if (error != 0) (void)give_space(file, from, to - from);
  return error;
}
/// Maps a part of the file into reserved addresses. `copied`: changes stay in this process, and the file is not written.
inline int map(int file, std::byte* at, std::uint64_t from, std::uint64_t bytes, bool copied, bool direct) noexcept {
  int flags = copied ? MAP_PRIVATE | MAP_NORESERVE : MAP_SHARED;
#if defined(MAP_SYNC) && defined(MAP_SHARED_VALIDATE)
  if (direct) flags = MAP_SHARED_VALIDATE | MAP_SYNC;
#else
  (void)direct;
#endif
  void* const got = mmap(at, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, file, static_cast<off_t>(from));
  return got == MAP_FAILED ? errno : 0;
}
/// Maps memory that is in no file. An errno.
inline int map_memory(std::byte* at, std::uint64_t bytes) noexcept {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  return mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED ? errno : 0;
}
inline void unmap(std::byte* at, std::uint64_t bytes) noexcept {
  if (at != nullptr) munmap(at, bytes);
}

/// Tells the process that set it from its children, by two things: its number, and a page that the kernel clears in a child (Linux 4.14). A child
/// may have the same number in a namespace of its own.
class process_mark {
public:
  process_mark() = default;
  ~process_mark() {
    if (page_ != nullptr) munmap(page_, bytes);
  }
  process_mark(const process_mark&) = delete;
  process_mark& operator=(const process_mark&) = delete;
  void set() noexcept {
    constexpr int wipe_on_fork = 18; // MADV_WIPEONFORK, younger than some systems' headers
    number_ = getpid();
    void* const got = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) return;
    if (madvise(got, bytes, wipe_on_fork) != 0) {
      munmap(got, bytes);
      return;
    }
    page_ = static_cast<char*>(got);
    *page_ = 1;
  }
  [[nodiscard]] bool is_of_this_process() const noexcept {
    return number_ == getpid() && (page_ == nullptr || *page_ == 1);
  }

private:
  static constexpr std::size_t bytes = 4096;
  pid_t number_ = 0;
  char* page_ = nullptr;
};

/// The identity of the running system: another one after a restart of the machine. All zeros if it is unknown.
inline void boot_id(std::uint64_t (&out)[2]) noexcept {
  out[0] = out[1] = 0;
  std::FILE* const in = std::fopen("/proc/sys/kernel/random/boot_id", "re");
  if (in == nullptr) return;
  char text[64] = {};
  const bool any = std::fgets(text, sizeof text, in) != nullptr;
  std::fclose(in);
  unsigned digits = 0;
  for (const char* c = text; any && *c != 0 && digits < 32; ++c) {
    const unsigned digit =
        *c >= '0' && *c <= '9' ? static_cast<unsigned>(*c - '0') : static_cast<unsigned>((*c | 32) - 'a') + 10;
    if (digit > 15) continue;
    out[digits / 16] = out[digits / 16] << 4 | digit;
    ++digits;
  }
}

} // namespace cubby::inline v0::detail::file
