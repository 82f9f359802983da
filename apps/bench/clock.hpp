// SPDX-License-Identifier: Apache-2.0
// Two clocks: seconds for throughput, ticks of the cycle counter for the time of one operation. `ticks_before` and
// `ticks_after` keep the operation between them; other instructions may not drift across.
#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace bench {

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

#if defined(__x86_64__)
inline std::uint64_t ticks_before() {
  _mm_lfence();
  const std::uint64_t t = __rdtsc();
  _mm_lfence();
  return t;
}

inline std::uint64_t ticks_after() {
  unsigned core = 0;
  const std::uint64_t t = __rdtscp(&core);
  _mm_lfence();
  return t;
}
#else
inline std::uint64_t ticks_before() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}
inline std::uint64_t ticks_after() { return ticks_before(); }
#endif

// Nanoseconds per tick, measured once against the steady clock.
inline double nanoseconds_per_tick() {
  static const double ratio = [] {
    const double from = seconds_now();
    const std::uint64_t first = ticks_before();
    double now = from;
    while (now - from < 0.05) now = seconds_now();
    const std::uint64_t last = ticks_before();
    return (now - from) * 1e9 / static_cast<double>(last - first);
  }();
  return ratio;
}

} // namespace bench
