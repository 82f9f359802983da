// SPDX-License-Identifier: Apache-2.0
// Seeds from the kernel: one that an attacker outside the process cannot know, and one that no other table has.
#pragma once

#include <cstdint>

#include <cubby/detail/platform/cpu.hpp>

#include <sys/random.h>
#include <time.h>

namespace cubby::inline v0 {

/// 64 random bits for `options.seed`. A system call. It may block while the machine boots, and never later.
[[nodiscard]] inline std::uint64_t random_seed() noexcept {
  std::uint64_t seed = 0;
  while (getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) detail::cpu::relax();
  return seed;
}

namespace detail {

/// Once for a process and image. It waits for nothing: without the kernel's help the clock has to do.
[[nodiscard]] inline std::uint64_t seed_of_process() noexcept {
  std::uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == static_cast<ssize_t>(sizeof seed)) return seed;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_nsec) << 32 ^ static_cast<std::uint64_t>(now.tv_sec);
}

/// The seed of a table that was given none: no other table of this process has it, nor one of another run. Where CUBBY_TABLE_SEED is
/// defined, it is that number, so that runs can be repeated.
[[nodiscard]] inline std::uint64_t seed_of_a_table() noexcept {
#ifdef CUBBY_TABLE_SEED
  return CUBBY_TABLE_SEED;
#else
  static const std::uint64_t first = seed_of_process();
  static std::uint64_t tables = 0;
  // relaxed: only numbers that differ
  std::uint64_t z = first + __atomic_fetch_add(&tables, 1, __ATOMIC_RELAXED) * 0x9e37'79b9'7f4a'7c15;
  z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9; // so that all bits differ (the finalizer of SplitMix64)
  z = (z ^ z >> 27) * 0x94d0'49bb'1331'11eb;
  return z ^ z >> 31;
#endif
}

} // namespace detail

} // namespace cubby::inline v0
