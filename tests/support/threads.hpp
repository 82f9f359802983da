// SPDX-License-Identifier: Apache-2.0
// Threads of a test: started together, joined before the call returns, an exception in one fails the test.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/detail/platform/cpu.hpp>

// One thread alone: ThreadSanitizer has nothing to see, and takes ten times as long.
#define CUBBY_SKIP_UNDER_TSAN()                                                                                        \
  if (cubby::detail::cpu::thread_sanitizer) GTEST_SKIP() << "one thread: nothing for ThreadSanitizer to see"

namespace cubby_test {

/// Runs `body(index)` in `count` threads that leave the start line together.
template <class Body>
void run_threads(unsigned count, Body body) {
  std::atomic<unsigned> waiting{count};
  std::vector<std::exception_ptr> thrown(count);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      waiting.fetch_sub(1);
      while (waiting.load() != 0) std::this_thread::yield();
      try {
        body(i);
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    });
  }
  for (auto& t : threads) t.join();
  for (auto& e : thrown) {
    if (e) std::rethrow_exception(e);
  }
}

/// Waits until `condition()`; false after `limit`. A test that would hang fails instead.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition, std::chrono::milliseconds limit = std::chrono::seconds(60)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

} // namespace cubby_test
