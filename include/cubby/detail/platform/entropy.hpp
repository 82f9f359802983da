// SPDX-License-Identifier: Apache-2.0
// A random seed from the kernel, which an attacker outside the process cannot know.
#pragma once

#include <cstdint>

#include <cubby/detail/platform/cpu.hpp>

#include <sys/random.h>

namespace cubby::inline v0 {

/// 64 random bits for `options.seed`. A system call. It may block while the machine boots, and never later.
[[nodiscard]] inline std::uint64_t random_seed() noexcept {
  std::uint64_t seed = 0;
  while (getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) detail::cpu::relax();
  return seed;
}

} // namespace cubby::inline v0
