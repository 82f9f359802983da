// SPDX-License-Identifier: Apache-2.0
// The store-buffering test of a table: each of two threads changes a key of its own and then looks up the other's, at once.
// What a thread has stored may wait in its store buffer while its loads go ahead: then both miss.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <cubby/detail/platform/cpu.hpp>

#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {

/// Two threads wait for each other by plain stores and loads, so that nothing here empties a store buffer.
class loose_meeting {
public:
  /// False: the other one came late, perhaps because it had no processor.
  bool wait(unsigned me) {
    const std::uint64_t turn = ++turns_[me].mine;
    turns_[me].shown.store(turn, std::memory_order_release);
    unsigned spins = 0;
    for (; turns_[1 - me].shown.load(std::memory_order_acquire) < turn; ++spins)
      if (spins % reader_backoff == reader_backoff - 1) std::this_thread::yield();
    return spins < reader_backoff;
  }

private:
  static constexpr unsigned reader_backoff = 1024;
  struct alignas(2 * cubby::detail::cpu::cache_line) place {
    std::atomic<std::uint64_t> shown{0};
    std::uint64_t mine = 0;
  };
  place turns_[2];
};

inline constexpr unsigned keys_of_a_side = 16;

/// A side is, for n below `keys_of_a_side`, `prepare(n)`; `warm(n)`, which brings the other's key into its cache; `act(n)`; and
/// `look(n)`: whether it misses the other's change. In a round each side prepares and warms all keys, then acts and looks key
/// by key, with a meeting before each. True: both have missed, at once. Ends then, or after so many rounds in which both
/// threads ran all the time, or, where others want the processors, after `limit`.
template <class One, class Two>
bool both_miss(One& one, Two& two, std::uint64_t rounds, std::chrono::milliseconds limit) {
  loose_meeting door;
  struct alignas(2 * cubby::detail::cpu::cache_line) seen_by {
    bool missed[keys_of_a_side] = {};
    bool waited = false;
  };
  seen_by seen[2];
  bool both = false, over = false;
  std::uint64_t together = 0;
  const auto end = std::chrono::steady_clock::now() + limit;
  const auto play = [&](auto& side, unsigned me) {
    random_source random(me);
    while (!over) {
      for (unsigned n = 0; n < keys_of_a_side; ++n) side.prepare(n);
      (void)door.wait(me);
      for (unsigned n = 0; n < keys_of_a_side; ++n) side.warm(n);
      seen[me].waited = !door.wait(me);
      for (unsigned n = 0; n < keys_of_a_side; ++n) {
        const std::uint64_t delay = random.below(32);
        seen[me].waited |= !door.wait(me);
        for (volatile std::uint64_t i = 0; i < delay;)
          i = i + 1; // a thread that comes last is the first to know that both are here
        side.act(n);
        seen[me].missed[n] = side.look(n);
      }
      (void)door.wait(me);
      if (me == 0) {
        for (unsigned n = 0; n < keys_of_a_side; ++n) both |= seen[0].missed[n] && seen[1].missed[n];
        if (!seen[0].waited && !seen[1].waited) ++together;
        over = both || together == rounds || std::chrono::steady_clock::now() > end;
      }
      (void)door.wait(me);
    }
  };
  run_threads(2, [&](unsigned me) { me == 0 ? play(one, 0) : play(two, 1); });
  return both;
}

} // namespace cubby_test
