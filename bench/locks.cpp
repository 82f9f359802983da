// SPDX-License-Identifier: Apache-2.0
// What an insert and the erase of the same key cost in the cache, and how much of it is their locked instructions alone.
// These are two swaps of 8 bytes and two of 16 on one line. The second figure bounds the first from below. Then what two
// threads lose by adding to one word instead of each to its own: what a reader-writer lock does to its readers.
//   bench_locks
#include <cubby/map.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t lines = 1024;
constexpr std::size_t pairs = 2'000'000;

using line = cubby::detail::engines::dlht::bin<cubby::detail::sync::shared>;

// The shortest of five rounds, in nanoseconds a pair.
template <class F> double shortest(F one) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < pairs; ++i) one(i);
    const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - begin;
    best = std::min(best, all.count() / static_cast<double>(pairs));
  }
  return best;
}

void four_locked(line& b) {
  using namespace cubby::detail::sync;
  std::uint64_t head = b.head.load(acquire);
  const std::uint64_t before = head;
  if (!b.head.compare_exchange(head, before + 1, acq_rel, relaxed)) return;
  b.slots[0].second.store(7, release);
  b.slots[0].first.store(1, release);
  head = before + 1;
  if (!b.head.compare_exchange(head, before + 2, release, acquire)) return;
  if (!b.slots[0].compare_exchange({1, 7}, {9, 5})) return;
  (void)b.slots[0].compare_exchange({9, 5}, {0, 5});
}

struct alignas(128) counter {
  std::atomic<std::uint64_t> sum{0};
};

// Million additions a second of two threads together, the most of five rounds, `at(i)` being where thread i adds.
template <class F> double two_adding(F at) {
  constexpr std::uint64_t each = 10'000'000;
  double most = 0;
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> here{0};
    const auto add = [&](std::size_t i) {
      for (++here; here.load() != 2;) continue;
      const auto begin = std::chrono::steady_clock::now();
      for (std::uint64_t n = 0; n < each; ++n)
        at(i).sum.fetch_add(1, std::memory_order_relaxed); // its cost alone matters
      const std::chrono::duration<double, std::micro> all = std::chrono::steady_clock::now() - begin;
      return all.count();
    };
    double other = 0;
    std::thread second([&] { other = add(1); });
    const double mine = add(0);
    second.join();
    most = std::max(most, 2 * static_cast<double>(each) / std::max(mine, other));
  }
  return most;
}

} // namespace

int main() {
  std::vector<line> table(lines);
  cubby::map<std::uint64_t, std::uint64_t> map(cubby::options{.capacity = 16 * lines});
  auto h = map.handle();
  for (std::uint64_t key = 1000; key < 1000 + 8 * lines; ++key) h.insert(key, key);
  const double locked = shortest([&](std::size_t i) { four_locked(table[i % lines]); });
  const double pair = shortest([&](std::size_t i) {
    const std::uint64_t key = (i % (8 * lines)) + (1ULL << 32);
    h.insert(key, i);
    h.erase(key);
  });
  std::printf("insert and erase of one key: %.1f ns, its four locked instructions alone: %.1f ns\n", pair, locked);
  std::vector<counter> words(2);
  const double apart = two_adding([&](std::size_t i) -> counter& { return words[i]; });
  const double together = two_adding([&](std::size_t) -> counter& { return words[0]; });
  std::printf("two threads adding: each to a word of its own %.0f Mops/s, both to one %.0f\n", apart, together);
  return 0;
}
