// SPDX-License-Identifier: Apache-2.0
// A function run by several threads at once, for work that a caller waits for. pthread, as in thread.hpp.
#pragma once

#include <cubby/detail/platform/sync.hpp>

#include <pthread.h>
#include <unistd.h>

namespace cubby::inline v0::detail {

/// The processors that the system has.
inline unsigned processors() noexcept {
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : static_cast<unsigned>(n);
}

/// Calls `f(number)` for each number below `threads`, in as many threads as the system gives; returns when all calls have returned.
template <class F> void in_parallel(unsigned threads, F f) noexcept {
  constexpr unsigned most = 64;
  if (threads > most) threads = most;
  struct share {
    F* function;
    unsigned number;
    pthread_t thread;
    bool running;
  } shares[most];
  const auto run = [](void* of) -> void* {
    auto& mine = *static_cast<share*>(of);
    (*mine.function)(mine.number);
    return nullptr;
  };
  for (unsigned i = 1; i < threads; ++i) {
    shares[i] = {&f, i, {}, false};
    shares[i].running = pthread_create(&shares[i].thread, nullptr, run, &shares[i]) == 0;
  }
  f(0U);
  for (unsigned i = 1; i < threads; ++i) {
    if (shares[i].running) pthread_join(shares[i].thread, nullptr);
    else f(i);
  }
}

} // namespace cubby::inline v0::detail
