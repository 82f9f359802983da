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

/// It waits for nothing: where the kernel gives no random number at once, the clock has to do.
[[nodiscard]] inline std::uint64_t drawn_number() noexcept {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) == static_cast<ssize_t>(sizeof number) && number != 0)
    return number;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_nsec) << 32 ^ static_cast<std::uint64_t>(now.tv_sec);
}

#ifdef CUBBY_TABLE_SEED
inline constexpr bool draws_seeds = false;
#else
inline constexpr bool draws_seeds = true;
#endif
/// The seed of a table that was given none: no other table has it, but by chance. The parent and the child of a fork go on from one number;
/// the clock tells their tables apart. Where CUBBY_TABLE_SEED is defined, it is that number, so that runs can be repeated.
[[nodiscard]] inline std::uint64_t seed_of_a_table() noexcept {
#ifdef CUBBY_TABLE_SEED
  return CUBBY_TABLE_SEED;
#else
  // Without a guard, in which a thread may be when another one forks. 0: not drawn yet.
  static std::uint64_t of_process = 0;
  static std::uint64_t tables = 0;
  std::uint64_t first = __atomic_load_n(&of_process, __ATOMIC_RELAXED); // relaxed, all: only numbers that differ
  if (first == 0) {
    const std::uint64_t drawn = drawn_number();
    // relaxed: as above; on failure `first` is what another thread has drawn
    if (__atomic_compare_exchange_n(&of_process, &first, drawn, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      first = drawn;
  }
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  // relaxed: as above
  std::uint64_t z = first + __atomic_fetch_add(&tables, 1, __ATOMIC_RELAXED) * 0x9e37'79b9'7f4a'7c15;
  z += static_cast<std::uint64_t>(now.tv_nsec) * 0xd6e8'feb8'6659'fd93;
  z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9; // so that all bits differ (the finalizer of SplitMix64)
  z = (z ^ z >> 27) * 0x94d0'49bb'1331'11eb;
  return z ^ z >> 31;
#endif
}

} // namespace detail

} // namespace cubby::inline v0
