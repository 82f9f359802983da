// SPDX-License-Identifier: Apache-2.0
// Threads that do one thing together while the caller's thread watches.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kmer {

// Runs `work(thread number)` on each of `threads` threads and returns when all are done; calls `watch()` now and then in
// between. What a thread throws goes to `failed`, which has to make the others end.
template <class Work, class Watch, class Failed>
void run_together(std::size_t threads, Work&& work, Watch&& watch, Failed&& failed) {
  std::mutex lock;
  std::condition_variable one_ended;
  std::size_t running = threads;
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      try {
        work(t);
      } catch (...) {
        failed(std::current_exception());
      }
      const std::lock_guard hold(lock);
      --running;
      one_ended.notify_one();
    });
  for (bool going = true; going;) {
    {
      std::unique_lock hold(lock);
      one_ended.wait_for(hold, std::chrono::milliseconds(500), [&] { return running == 0; });
      going = running != 0;
    }
    watch();
  }
  for (std::thread& t : all) t.join();
}

} // namespace kmer
