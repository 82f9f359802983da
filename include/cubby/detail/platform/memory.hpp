// SPDX-License-Identifier: Apache-2.0
// Pages from the kernel for large arrays: zeroed, aligned to 2 MiB when large, huge pages asked for, interleaved over
// NUMA nodes where there are several. What was granted is read back, never assumed. The kernel grants more than there is
// (overcommit), so what no memory can hold is refused here: more than the machine, its swap, or the control group has.
// Builds with CUBBY_SYNC_HOOKS let a test refuse any of these allocations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <cubby/detail/platform/sync.hpp>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

namespace cubby::inline v0::detail::memory {

inline constexpr std::size_t huge_page = std::size_t{2} << 20;
inline constexpr std::size_t small_page = 4096;

/// Pages that belong to the caller until `release`d; `address` is null when the kernel gave none.
struct region {
  std::byte* address = nullptr;
  std::size_t bytes = 0;
};

using refuse_function = bool (*)(std::size_t bytes);
#if CUBBY_SYNC_HOOKS
inline refuse_function& installed_failure() noexcept {
  static refuse_function function = nullptr;
  return function;
}
/// Installs a function that is asked before each allocation and refuses it by answering true.
inline void install_failure(refuse_function function) noexcept { installed_failure() = function; }
inline bool refused(std::size_t bytes) noexcept {
  auto* const function = installed_failure();
  return function != nullptr && function(bytes);
}
#else
inline bool refused(std::size_t) noexcept { return false; }
#endif

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

/// All pages in one call: fault by fault they hold up readers on other cores of a virtual machine (docs/performance.md,
/// `bench_tails`). Older kernels refuse, and pages arrive at first use.
inline void bring_in(void* address, std::size_t bytes) noexcept {
  constexpr int populate_write = 23; // MADV_POPULATE_WRITE, younger than some systems' headers
  (void)madvise(address, bytes, populate_write);
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

/// The number in `folder` + `path` + `name`; all ones when there is none, as in a file that says "max".
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

/// The least bound of a control group and those around it; shortens `path` to nothing.
inline std::uint64_t least_bound(const char* folder, char* path, const char* name) noexcept {
  for (std::uint64_t least = ~0ULL;;) {
    const std::uint64_t one = number_in(folder, path, name);
    if (one < least) least = one;
    char* const last = std::strrchr(path, '/');
    if (last == nullptr) return least;
    *last = 0;
  }
}

/// What the control groups of this process may hold, of either version; all ones: as much as there is.
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

} // namespace detail

/// Below this nobody asks what there is: a look costs some files' reading, and such a region no more than some pages.
inline constexpr std::size_t asked_from = std::size_t{64} << 20;

/// Whether memory and swap, used by nobody else, could hold so many bytes: else pages that nobody has touched could be
/// granted and never be filled. What is free at the moment is not asked, nor are RLIMIT_AS and RLIMIT_DATA: the kernel does.
inline bool can_hold(std::uint64_t bytes) noexcept {
  if (bytes > (std::uint64_t{1} << 46)) return false;
  if (bytes < asked_from) return true;
  struct sysinfo now = {};
  if (sysinfo(&now) != 0) return true;
  const std::uint64_t machine = std::uint64_t{now.totalram} * now.mem_unit;
  const std::uint64_t group = detail::group_memory();
  return bytes <= (machine < group ? machine : group) + std::uint64_t{now.totalswap} * now.mem_unit;
}

/// Zeroed pages of at least `bytes`. From 2 MiB on huge pages are asked for, and pages arrive at first use; smaller regions
/// arrive at once, where the kernel can do that (Linux 5.14). Null address: refused.
inline region allocate(std::size_t bytes) noexcept {
  const bool large = bytes >= huge_page;
  const std::size_t unit = large ? huge_page : small_page;
  if (!can_hold(bytes) || refused(bytes)) return {};
  const std::size_t rounded = (bytes + unit - 1) / unit * unit;
  auto* const address = large ? detail::map_aligned(rounded) : static_cast<std::byte*>(detail::map_pages(rounded));
  if (address == nullptr) return {};
  if (large) (void)madvise(address, rounded, MADV_HUGEPAGE);
  detail::interleave(address, rounded);
  if (!large) detail::bring_in(address, rounded);
  return {address, rounded};
}

/// Gives back at most `limit` bytes from the region's end (all without a limit) and shortens it; a multi-gigabyte
/// unmap would otherwise stall the caller for milliseconds.
inline void release(region& pages, std::size_t limit = ~std::size_t{0}) noexcept {
  const std::size_t part = pages.bytes < limit ? pages.bytes : limit;
  if (part != 0) munmap(pages.address + (pages.bytes - part), part);
  pages.bytes -= part;
}

/// Bytes between `pages` that huge pages back right now, from the kernel's own account; 0 where it gives none.
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

/// Regions that are listed under a lock, so that the kernel, which takes its time, is asked about them after it. One that
/// is given back in between counts what lies in its place by then.
class region_list {
public:
  /// Past the 32nd, bytes alone are counted: a table has so many arrays only while a thread that moves entries stands still.
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
