// SPDX-License-Identifier: Apache-2.0
// What makes stores durable: `write_back` sends lines to the medium, `drain` waits for them. Which of the two a domain needs, and how the
// domain of a file is found out (docs/format.md, Domains). In builds with CUBBY_SYNC_HOOKS a recorder is told of both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <cubby/detail/platform/sync.hpp>

#include <sys/mman.h>
#include <sys/stat.h>

#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

namespace cubby::inline v0 {

/// What a durable table survives, and what has to be done for it (docs/format.md).
enum class persistence : std::uint8_t {
  process, ///< an ordinary mapping: survives the end of the process
  page,    ///< an ordinary file: `sync` makes what was done before survive a power cut
  line,    ///< memory mapped directly: each call writes its lines back
  byte     ///< the same, with caches that survive a power cut
};

} // namespace cubby::inline v0

namespace cubby::inline v0::detail::persist {

#if CUBBY_SYNC_HOOKS
/// Told of each write-back, of each drain, and of bytes that were stored without `sync::word`. Called by any thread.
struct recorder {
  virtual void stored(const void* from, std::size_t bytes) = 0;
  virtual void wrote_back(const void* from, std::size_t bytes) = 0;
  virtual void drained() = 0;

protected:
  ~recorder() = default;
};
inline recorder*& installed_recorder() noexcept {
  static recorder* one = nullptr;
  return one;
}
/// Installs (or with null removes) the recorder. Call it while no other thread uses a durable table.
inline void install_recorder(recorder* one) noexcept { installed_recorder() = one; }
/// After bytes of the medium were copied. Their stores may be carried out in any order.
inline void note_stored(const void* from, std::size_t bytes) noexcept {
  if (auto* const one = installed_recorder()) one->stored(from, bytes);
}
inline void note_write_back(const void* from, std::size_t bytes) noexcept {
  if (auto* const one = installed_recorder()) one->wrote_back(from, bytes);
}
inline void note_drain() noexcept {
  if (auto* const one = installed_recorder()) one->drained();
}
/// The domain that `write_lines_back` forces.
inline persistence& forced_domain() noexcept {
  static persistence one = persistence::line;
  return one;
}
#else
CUBBY_ALWAYS_INLINE void note_stored(const void*, std::size_t) noexcept {}
CUBBY_ALWAYS_INLINE void note_write_back(const void*, std::size_t) noexcept {}
CUBBY_ALWAYS_INLINE void note_drain() noexcept {}
constexpr persistence forced_domain() noexcept { return persistence::line; }
#endif

/// The instruction that writes a line back. `clwb` leaves it in the cache.
enum class instruction : std::uint8_t { none, clflush, clflushopt, clwb, dc_cvac, dc_cvap };

inline instruction best_instruction() noexcept {
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
    if ((b >> 24 & 1) != 0) return instruction::clwb;
    if ((b >> 23 & 1) != 0) return instruction::clflushopt;
  }
  return instruction::clflush;
#else
  constexpr unsigned long dc_pop = 1UL << 16; // HWCAP_DCPOP
  return (getauxval(AT_HWCAP) & dc_pop) != 0 ? instruction::dc_cvap : instruction::dc_cvac;
#endif
}

CUBBY_ALWAYS_INLINE void write_line_back(const void* line, instruction how) noexcept {
#if defined(__x86_64__)
  auto* const at = static_cast<char*>(const_cast<void*>(line));
  if (how == instruction::clwb) asm volatile("clwb %0" : "+m"(*at)::"memory");
  else if (how == instruction::clflushopt) asm volatile("clflushopt %0" : "+m"(*at)::"memory");
  else asm volatile("clflush %0" : "+m"(*at)::"memory");
#else
  // the second one by its number, because assemblers know its name only for ARMv8.2
  if (how == instruction::dc_cvap) asm volatile("sys #3, c7, c12, #1, %0" ::"r"(line) : "memory");
  else asm volatile("dc cvac, %0" ::"r"(line) : "memory");
#endif
}
CUBBY_ALWAYS_INLINE void wait_for_lines() noexcept {
#if defined(__x86_64__)
  asm volatile("sfence" ::: "memory");
#else
  asm volatile("dsb ish" ::: "memory");
#endif
}
/// What was stored or seen before it is in the caches before stores after it. x86-64 keeps that order by itself.
CUBBY_ALWAYS_INLINE void keep_order_of_stores() noexcept {
#if defined(__x86_64__)
  asm volatile("" ::: "memory");
#else
  asm volatile("dmb ish" ::: "memory");
#endif
}

/// A domain, ready for use. A plain value.
class medium {
public:
  constexpr medium() noexcept = default;
  explicit medium(persistence domain) noexcept
      : domain_(domain), how_(domain == persistence::line ? best_instruction() : instruction::none) {}

  [[nodiscard]] constexpr persistence domain() const noexcept { return domain_; }
  /// Whether a change is durable only after a drain, so that other threads must not see it before.
  [[nodiscard]] CUBBY_ALWAYS_INLINE bool must_drain() const noexcept { return domain_ == persistence::line; }
  /// Whether only a sync makes a change durable.
  [[nodiscard]] CUBBY_ALWAYS_INLINE bool is_synced_later() const noexcept { return domain_ == persistence::page; }

  /// Sends the lines of [from, from + bytes) to the medium. They are there after the next `drain`.
  CUBBY_ALWAYS_INLINE void write_back(const void* from, std::size_t bytes) const noexcept {
    if (domain_ != persistence::line) [[likely]]
      return;
    note_write_back(from, bytes);
    if (bytes == 0) return;
    const auto first = reinterpret_cast<std::uintptr_t>(from) / cpu::cache_line;
    const auto last = (reinterpret_cast<std::uintptr_t>(from) + bytes - 1) / cpu::cache_line;
    for (auto one = first; one <= last; ++one) write_line_back(reinterpret_cast<void*>(one * cpu::cache_line), how_);
  }
  /// Returns when all lines that this thread has written back are on the medium.
  CUBBY_ALWAYS_INLINE void drain() const noexcept {
    if (domain_ < persistence::line) [[likely]]
      return;
    note_drain();
    wait_for_lines();
  }
  CUBBY_ALWAYS_INLINE void persist(const void* from, std::size_t bytes) const noexcept {
    write_back(from, bytes);
    drain();
  }
  /// [from, from + bytes) is on the medium before anything that this thread stores next. Where caches survive, the order of stores is enough.
  CUBBY_ALWAYS_INLINE void persist_first(const void* from, std::size_t bytes) const noexcept {
    if (domain_ == persistence::byte) keep_order_of_stores();
    else persist(from, bytes);
  }

private:
  persistence domain_ = persistence::process;
  instruction how_ = instruction::none;
};

namespace detail {

/// Whether the caches of the device that has this file survive a power cut, as the kernel reports.
inline bool caches_survive(const struct stat& file) noexcept {
  char path[128];
  // Linux keeps both numbers in these bits. <sys/sysmacros.h> has macros for them, which would rename a user's `major` and `minor`.
  const std::uint64_t device = file.st_dev;
  const auto number = static_cast<unsigned>((device >> 8 & 0xfff) | (device >> 32 & 0xfffff000));
  const auto part = static_cast<unsigned>((device & 0xff) | (device >> 12 & 0xffffff00));
  std::snprintf(path, sizeof path, "/sys/dev/block/%u:%u/device/../persistence_domain", number, part);
  std::FILE* const in = std::fopen(path, "re");
  if (in == nullptr) return false;
  char word[32] = {};
  const bool is_cache = std::fscanf(in, "%31s", word) == 1 && word[0] == 'c'; // "cpu_cache"
  std::fclose(in);
  return is_cache;
}

} // namespace detail

/// The domain of an open file of at least one page, for a table that is to survive a power cut. Only a mapping with MAP_SYNC proves that
/// the file system maps the medium itself.
inline persistence detect(int file) noexcept {
#if defined(MAP_SYNC) && defined(MAP_SHARED_VALIDATE)
  void* const got = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, file, 0);
  if (got == MAP_FAILED) return persistence::page;
  munmap(got, 4096);
  struct stat about = {};
  const bool whole = fstat(file, &about) == 0 && detail::caches_survive(about);
  return whole ? persistence::byte : persistence::line;
#else
  (void)file;
  return persistence::page;
#endif
}

} // namespace cubby::inline v0::detail::persist
