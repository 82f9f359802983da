// SPDX-License-Identifier: Apache-2.0
// Litmus tests: two threads meet on a fresh cell, many times over. Within a batch nothing but the pair under test
// orders them, so plain memory that the pair carries (a "passenger") is a race for ThreadSanitizer when it is weakened.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {

/// Spins until `condition()`, and lets others run when it takes long.
template <class Condition>
void spin_until(Condition condition) {
  for (unsigned spins = 0; !condition(); ++spins) {
    if (spins % 64 == 63) std::this_thread::yield();
    else cubby::detail::cpu::relax();
  }
}

/// Where both threads wait for each other between batches.
class meeting {
public:
  void wait() {
    const unsigned turn = turn_.load();
    if (here_.fetch_add(1) == 1) {
      here_.store(0);
      turn_.store(turn + 1);
    } else {
      spin_until([&] { return turn_.load() != turn; });
    }
  }

private:
  std::atomic<unsigned> here_{0};
  std::atomic<unsigned> turn_{0};
};

/// `batches` times: a new Batch, on whose `size` cells one thread calls first(batch, i) and the other second(batch, i).
template <class Batch, class First, class Second>
void meet(std::uint64_t batches, First first, Second second) {
  std::unique_ptr<Batch> batch;
  meeting door;
  run_threads(2, [&](unsigned me) {
    for (std::uint64_t n = 0; n < scaled(batches); ++n) {
      if (me == 0) batch = std::make_unique<Batch>();
      door.wait();
      for (std::size_t i = 0; i < Batch::size; ++i) {
        if (me == 0) first(*batch, i);
        else second(*batch, i);
      }
      door.wait();
    }
  });
}

} // namespace cubby_test
