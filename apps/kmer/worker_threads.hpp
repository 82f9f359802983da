// SPDX-License-Identifier: Apache-2.0
// Threads that do one thing together while the caller's thread watches.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <fmt/format.h>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace kmer {

inline std::exception_ptr not_started(std::size_t number, std::size_t threads, const std::system_error& why) try {
  return std::make_exception_ptr(std::runtime_error(fmt::format(
      "thread {} of {} cannot be started: {}; give fewer --threads", number, threads, why.code().message())));
} catch (...) {
  return std::current_exception(); // there is no memory for words either
}

// Starts `one(thread number)` on threads that are appended to `all`. Where the system has no space for one more, `failed`
// is told and the rest is not started: an exception would end the program while those before it run.
template <class One, class Failed>
void start_together(std::vector<std::thread>& all, std::size_t threads, const One& one, Failed&& failed) {
  all.reserve(threads);
  try {
    for (std::size_t t = 0; t < threads; ++t) all.emplace_back(one, t);
  } catch (const std::system_error& e) {
    failed(not_started(all.size() + 1, threads, e));
  } catch (...) {
    failed(std::current_exception());
  }
}

// Runs `work(thread number)` on each of `threads` threads and returns when all are done; calls `watch()` now and then in
// between. What a thread throws goes to `failed`, which has to make the others end; so does a thread that does not start.
template <class Work, class Watch, class Failed>
void run_together(std::size_t threads, Work&& work, Watch&& watch, Failed&& failed) {
  std::mutex lock;
  std::condition_variable one_ended;
  std::size_t ended = 0;
  const auto one = [&](std::size_t t) {
    try {
      work(t);
    } catch (...) {
      failed(std::current_exception());
    }
    const std::lock_guard hold(lock);
    ++ended;
    one_ended.notify_one();
  };
  std::vector<std::thread> all;
  start_together(all, threads, one, failed);
  for (bool going = true; going;) {
    {
      std::unique_lock hold(lock);
      one_ended.wait_for(hold, std::chrono::milliseconds(500), [&] { return ended == all.size(); });
      going = ended != all.size();
    }
    watch();
  }
  for (std::thread& t : all) t.join();
}

} // namespace kmer
