// SPDX-License-Identifier: Apache-2.0
// Zeroed memory for arrays. Small ones come from the heap; larger ones are pages from the kernel, interleaved over the NUMA nodes, and from
// 2 MiB on aligned and with a request for huge pages. How much the kernel backs with huge pages is read back. The kernel may grant more memory than there is (overcommit),
// so requests beyond the memory and swap of the machine or the control group are refused here. In builds with CUBBY_SYNC_HOOKS a
// test can refuse any allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>

#include <cubby/detail/platform/sync.hpp>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

namespace cubby::inline v0::detail::memory {

inline constexpr std::size_t huge_page = std::size_t{2} << 20;
inline constexpr std::size_t small_page = 4096;
inline constexpr std::size_t any_page = std::size_t{64} << 10; // a multiple of the small pages of every kernel

/// Arrays of fewer bytes come from the heap. To make, use and end a table of words took 9 us by system calls for its first pages, and takes
/// 1 us (`bench_construction`).
inline constexpr std::size_t pages_from = std::size_t{64} << 10;

/// Memory that belongs to the caller until `release`. `address` is null if there was none.
struct region {
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  bool of_heap = false;
};

using refuse_function = bool (*)(std::size_t bytes);
#if CUBBY_SYNC_HOOKS
inline refuse_function& installed_failure() noexcept {
  static refuse_function function = nullptr;
  return function;
}
/// Installs a function that is called before each allocation, and refuses it by answering true.
inline void install_failure(refuse_function function) noexcept { installed_failure() = function; }
inline bool refused(std::size_t bytes) noexcept {
  auto* const function = installed_failure();
  return function != nullptr && function(bytes);
}
#else
inline bool refused(std::size_t) noexcept { return false; }
#endif

/// Maps all pages in one call: single page faults delay readers on other cores of a virtual machine
/// (docs/performance/relativistic.md, `bench_tails`). Older kernels refuse; then each page is mapped at its first use.
/// Does not change what the pages contain.
inline void bring_in(void* address, std::size_t bytes) noexcept {
  constexpr int populate_write = 23; // MADV_POPULATE_WRITE, younger than some systems' headers
  (void)madvise(address, bytes, populate_write);
}

namespace detail {

/// A bit for each NUMA node that this process may use (nodes 0 to 63).
inline std::uint64_t allowed_nodes() noexcept {
  constexpr unsigned long mems_allowed = 1UL << 2; // MPOL_F_MEMS_ALLOWED
  unsigned long mask[16] = {};
  if (syscall(__NR_get_mempolicy, nullptr, mask, sizeof mask * 8, nullptr, mems_allowed) != 0) return 1;
  return mask[0];
}

inline void interleave(void* address, std::size_t bytes) noexcept {
  static const std::uint64_t nodes = allowed_nodes();
  if ((nodes & (nodes - 1)) == 0) return;
  constexpr int policy_interleave = 3; // MPOL_INTERLEAVE
  unsigned long mask = nodes;
  (void)syscall(__NR_mbind, address, bytes, policy_interleave, &mask, 64UL, 0U);
}

inline void* map_pages(std::size_t bytes) noexcept {
  void* const got = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return got == MAP_FAILED ? nullptr : got;
}

inline std::byte* map_aligned(std::size_t bytes) noexcept {
  auto* const raw = static_cast<std::byte*>(map_pages(bytes + huge_page));
  if (raw == nullptr) return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(raw);
  const auto head = (huge_page - start % huge_page) % huge_page;
  if (head != 0) munmap(raw, head);
  if (head != huge_page) munmap(raw + head + bytes, huge_page - head);
  return raw + head;
}

/// The number in the file `folder` + `path` + `name`; all ones if it has none, as in a file with "max".
inline std::uint64_t number_in(const char* folder, const char* path, const char* name) noexcept {
  char whole[1024];
  if (std::snprintf(whole, sizeof whole, "%s%s%s", folder, path, name) >= static_cast<int>(sizeof whole)) return ~0ULL;
  std::FILE* const file = std::fopen(whole, "re");
  if (file == nullptr) return ~0ULL;
  unsigned long long number = 0;
  const bool has_one = std::fscanf(file, "%llu", &number) == 1;
  std::fclose(file);
  return has_one ? number : ~0ULL;
}

/// The least bound of a control group and its parents. Shortens `path` to an empty string.
inline std::uint64_t least_bound(const char* folder, char* path, const char* name) noexcept {
  for (std::uint64_t least = ~0ULL;;) {
    const std::uint64_t one = number_in(folder, path, name);
    if (one < least) least = one;
    char* const last = std::strrchr(path, '/');
    if (last == nullptr) return least;
    *last = 0;
  }
}

/// The bound of this process's control groups, of version 1 or 2, in bytes. All ones: no bound.
inline std::uint64_t group_memory() noexcept {
  std::FILE* const file = std::fopen("/proc/self/cgroup", "re");
  if (file == nullptr) return ~0ULL;
  std::uint64_t least = ~0ULL;
  char line[600]; // "4:memory:/path", or "0::/path" of version 2
  while (std::fgets(line, sizeof line, file) != nullptr) {
    line[std::strcspn(line, "\n")] = 0;
    std::uint64_t one = ~0ULL;
    if (std::strncmp(line, "0::", 3) == 0) one = least_bound("/sys/fs/cgroup", line + 3, "/memory.max");
    if (char* const of = std::strstr(line, ":memory:"))
      one = least_bound("/sys/fs/cgroup/memory", of + 8, "/memory.limit_in_bytes");
    if (one < least) least = one;
  }
  std::fclose(file);
  return least;
}

/// `group_memory` in MiB, rounded up, and read again after an eighth of a second. A table that has no memory to grow asks at each insert, and the
/// files took most of its 18 us.
inline std::uint64_t recent_group_mib() noexcept {
  constexpr std::uint64_t most = (std::uint64_t{1} << 40) - 1;
  static sync::word<std::uint64_t> known; // [63 when 40 | MiB 0]
  timespec now{};
  (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  const std::uint64_t when =
      (static_cast<std::uint64_t>(now.tv_sec) * 8 + static_cast<std::uint64_t>(now.tv_nsec) / 125000000) + 1;
  const std::uint64_t seen = known.load(sync::relaxed); // relaxed: one word has all
  if (seen >> 40 == (when & 0xffffff) && seen != 0) return seen & most;
  const std::uint64_t bytes = group_memory();
  const std::uint64_t mib = (bytes >> 20) + (bytes % (1 << 20) != 0 ? 1 : 0);
  const std::uint64_t shown = mib < most ? mib : most;
  known.store((when & 0xffffff) << 40 | shown, sync::relaxed); // relaxed: as above
  return shown;
}

inline constexpr std::align_val_t heap_alignment{std::size_t{2} * cpu::cache_line};
inline region from_heap(std::size_t bytes) noexcept {
  void* const got = ::operator new(bytes, heap_alignment, std::nothrow);
  if (got == nullptr) return {};
  std::memset(got, 0, bytes);
  return {static_cast<std::byte*>(got), bytes, true};
}

} // namespace detail

/// Smaller regions are not compared with the memory that there is, because that costs reading several files.
inline constexpr std::size_t asked_from = std::size_t{64} << 20;

/// Whether memory and swap together could hold so many bytes if nothing else used them. Otherwise the kernel could grant pages that can
/// never be filled. It does not check the memory that is free now, RLIMIT_AS or RLIMIT_DATA; the kernel does that.
inline bool can_hold(std::uint64_t bytes) noexcept {
  if (bytes > (std::uint64_t{1} << 46)) return false;
  if (bytes < asked_from) return true;
  struct sysinfo now = {};
  if (sysinfo(&now) != 0) return true;
  const std::uint64_t machine = std::uint64_t{now.totalram} * now.mem_unit;
  const std::uint64_t group = detail::recent_group_mib() << 20;
  return bytes <= (machine < group ? machine : group) + std::uint64_t{now.totalswap} * now.mem_unit;
}

/// At least `bytes` of zeros, aligned to two lines. From 2 MiB on it requests huge pages, and each page is mapped at its first use. What is left
/// behind the last whole huge page has small ones: another huge one would waste up to half of a table of few MiB (docs/performance/raw.md, "Behind
/// the last huge page"). Pages of smaller regions are mapped at once, where the kernel can do that (Linux 5.14). Null address: refused.
inline region allocate(std::size_t bytes) noexcept {
  const bool large = bytes >= huge_page;
  if (!can_hold(bytes) || refused(bytes)) return {};
  if (bytes < pages_from) return detail::from_heap(bytes);
  const std::size_t unit = large ? any_page : small_page;
  const std::size_t rounded = (bytes + unit - 1) / unit * unit;
  auto* const address = large ? detail::map_aligned(rounded) : static_cast<std::byte*>(detail::map_pages(rounded));
  if (address == nullptr) return {};
  if (large) (void)madvise(address, rounded, MADV_HUGEPAGE);
  detail::interleave(address, rounded);
  if (!large) bring_in(address, rounded);
  return {address, rounded, false};
}

enum class chunk_pages : unsigned char { usual, small, huge };
/// As many bytes as a huge page has, aligned to that, with a request for such pages, or for none. `usual`: what the system does by itself. Each page is
/// mapped at its first use, by the thread that uses it. Null address: refused. The kernel maps from high to low, so that most of them lie below the one before and need no mapping of their
/// own: a process may have some 65,000.
inline region allocate_chunk(chunk_pages wish) noexcept {
  if (refused(huge_page)) return {};
  auto* address = static_cast<std::byte*>(detail::map_pages(huge_page));
  if (address != nullptr && reinterpret_cast<std::uintptr_t>(address) % huge_page != 0) {
    munmap(address, huge_page);
    address = detail::map_aligned(huge_page);
  }
  if (address == nullptr) return {};
  if (wish == chunk_pages::huge) (void)madvise(address, huge_page, MADV_HUGEPAGE);
  if (wish == chunk_pages::small)
    (void)madvise(address, huge_page, MADV_NOHUGEPAGE); // where the system maps huge ones unasked
  return {address, huge_page, false};
}

/// Gives back at most `limit` bytes from the region's end, by default all, and shortens the region. To unmap gigabytes in one call would
/// stop the caller for milliseconds. What came from the heap goes back whole, and stays if the limit is lower. Of a large region whole huge pages stay:
/// to split one takes as long as to unmap 4 MiB.
inline void release(region& pages, std::size_t limit = ~std::size_t{0}) noexcept {
  if (pages.of_heap) {
    if (pages.bytes > limit) return;
    ::operator delete(pages.address, detail::heap_alignment);
    pages = {};
    return;
  }
  const std::size_t unit = pages.bytes > huge_page ? huge_page : any_page;
  const std::size_t stays = pages.bytes > limit ? (pages.bytes - limit + unit - 1) / unit * unit : 0;
  if (stays >= pages.bytes) return;
  munmap(pages.address + stays, pages.bytes - stays);
  pages.bytes = stays;
}

/// The bytes of `pages` that huge pages back at this moment, as the kernel reports; 0 if it does not report them.
inline std::size_t huge_bytes(const region& pages) noexcept {
  if (pages.bytes < huge_page) return 0;
  std::FILE* const file = std::fopen("/proc/self/smaps", "re");
  if (file == nullptr) return 0;
  const auto low = reinterpret_cast<std::uintptr_t>(pages.address);
  std::size_t total = 0;
  bool inside = false;
  char line[512];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    unsigned long from = 0;
    unsigned long to = 0;
    std::size_t kib = 0;
    if (std::sscanf(line, "%lx-%lx ", &from, &to) == 2) {
      inside = from < low + pages.bytes && to > low;
    } else if (inside && std::sscanf(line, "AnonHugePages: %zu kB", &kib) == 1) {
      total += kib * 1024;
    }
  }
  std::fclose(file);
  return total < pages.bytes ? total : pages.bytes;
}

/// A list of regions, made under a lock, so that the slow question to the kernel comes after it. If a region is given back in
/// between, what is mapped in its place by then is counted.
class region_list {
public:
  /// From the 33rd region on only the bytes are counted. A table has so many arrays only while a thread that moves entries is stopped.
  void add(const region& pages) noexcept {
    bytes_ += pages.bytes;
    if (count_ != most) listed_[count_++] = pages;
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t huge_bytes() const noexcept {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < count_; ++i) sum += memory::huge_bytes(listed_[i]);
    return sum;
  }

private:
  static constexpr std::size_t most = 32;
  region listed_[most];
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

} // namespace cubby::inline v0::detail::memory
