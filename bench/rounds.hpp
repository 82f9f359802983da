// SPDX-License-Identifier: Apache-2.0
// What the programs beside this file share: arguments, figures of several rounds, and readers that look up random numbers
// while the caller does something else.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "machine.hpp"

namespace bench {

inline std::uint64_t number(int count, char** words, int at, std::uint64_t otherwise) {
  return count > at ? std::strtoull(words[at], nullptr, 10) : otherwise;
}
inline bool says(int count, char** words, std::string_view word) {
  return std::any_of(words + 1, words + count, [word](const char* given) { return given == word; });
}

/// One figure of each round.
class rounds {
public:
  void add(double figure) { all_.push_back(figure); }
  [[nodiscard]] std::size_t count() const { return all_.size(); }
  [[nodiscard]] double median() const {
    std::vector<double> sorted = all_;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t middle = sorted.size() / 2;
    if (sorted.empty()) return 0;
    return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
  /// The largest minus the smallest, in percent of the median.
  [[nodiscard]] double spread() const {
    if (all_.empty() || median() == 0) return 0;
    const auto [low, high] = std::minmax_element(all_.begin(), all_.end());
    return (*high - *low) / median() * 100;
  }

private:
  std::vector<double> all_;
};

/// Numbers below a bound of at most 2^32, at random.
class random_numbers {
public:
  random_numbers(std::uint64_t seed, std::uint64_t bound) : state_(seed), bound_(bound) {}
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 32) * bound_ >> 32;
  }

private:
  std::uint64_t state_;
  std::uint64_t bound_;
};

/// Where readers begin together and learn when to end.
class course {
public:
  void start() {
    ready_.fetch_add(1);
    while (!go_.load()) std::this_thread::yield();
  }
  [[nodiscard]] bool over() const {
    return over_.load(std::memory_order_relaxed); // a request; the join orders the rest
  }
  void open(unsigned readers) {
    while (ready_.load() != readers) std::this_thread::yield();
    go_ = true;
  }
  void close() { over_ = true; }

private:
  std::atomic<unsigned> ready_{0};
  std::atomic<bool> go_{false};
  alignas(64) std::atomic<bool> over_{false};
};

/// Runs `read(number, course)` on so many threads, each bound to a core, until `meanwhile()` returns, which runs on a
/// thread bound to the next core. The seconds between begin and end.
template <class Read, class Meanwhile> double beside(unsigned readers, Read read, Meanwhile meanwhile) {
  course way;
  std::vector<std::thread> threads;
  for (unsigned r = 0; r < readers; ++r) {
    threads.emplace_back([&, r] {
      pin_to_cpu(r);
      read(r, way);
    });
  }
  double seconds = 0;
  std::thread other([&] {
    pin_to_cpu(readers);
    way.open(readers);
    const auto begin = std::chrono::steady_clock::now();
    meanwhile();
    way.close();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
  other.join();
  for (std::thread& t : threads) t.join();
  return seconds;
}

/// Runs `work(number)` on so many threads, each bound to a core. The seconds from when all of them are there to the end of the last.
template <class Work> double together(unsigned count, Work work) {
  course way;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      pin_to_cpu(t);
      way.start();
      work(t);
    });
  }
  way.open(count);
  const auto begin = std::chrono::steady_clock::now();
  for (std::thread& t : threads) t.join();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Calls `work(keys, count) -> number` in so many threads, each with a part of the keys, so many a call: million keys a second.
template <class Key, class Work>
double million_a_second(const std::vector<Key>& keys, std::size_t a_call, unsigned threads, Work work) {
  std::atomic<std::uint64_t> sum{0};
  const double seconds = together(threads, [&](unsigned t) {
    std::uint64_t mine = 0;
    const std::size_t end = keys.size() * (t + 1) / threads;
    for (std::size_t i = keys.size() * t / threads; i < end; i += a_call)
      mine += work(&keys[i], end - i < a_call ? end - i : a_call);
    sum += mine; // else the compiler would leave the work out
  });
  return static_cast<double>(keys.size()) / seconds * 1e-6;
}

/// Calls `once()` until the time is over; how often.
template <class F> std::uint64_t repeat(double seconds, F once) {
  std::uint64_t times = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (; std::chrono::steady_clock::now() < end; ++times) once();
  return times;
}
inline void rest(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

} // namespace bench
