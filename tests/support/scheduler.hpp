// SPDX-License-Identifier: Apache-2.0
// A deterministic scheduler over atomic steps: of the threads of a test exactly one runs at a time, and the test says
// which one and how far. A thread that would wait for another, or goes on suspiciously long, gives the turn back.
// Explores sequentially consistent interleavings; weaker ones are left to the random tests and ThreadSanitizer.
#pragma once

#include <functional>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

#include "support/hooks.hpp"

namespace cubby_test {

class scheduler {
public:
  /// Stops the thread before a step for which it is true.
  using predicate = std::function<bool(step, const void*)>;
  enum class stopped : std::uint8_t { before_step, waiting, finished };

  /// Starts a thread, which stands still before its first step. Returns its number.
  std::size_t start(std::function<void()> script) {
    auto a = std::make_unique<actor>();
    actor& mine = *a;
    actors_.push_back(std::move(a));
    mine.thread = std::thread([&mine, script = std::move(script)] {
      mine.turn.acquire();
      {
        turns w(mine);
        script();
      }
      mine.how = stopped::finished;
      mine.back.release();
    });
    return actors_.size() - 1;
  }

  /// Lets the thread run until `stop` is true before one of its steps, or it would wait, or it ends.
  stopped run_until(std::size_t number, predicate stop) {
    actor& a = *actors_[number];
    if (a.how == stopped::finished) return a.how;
    a.stop = std::move(stop);
    a.turn.release();
    a.back.acquire();
    return a.how;
  }
  /// At most `steps` steps.
  stopped run(std::size_t number, std::uint64_t steps) {
    return run_until(number, [left = steps](step, const void*) mutable { return left-- == 0; });
  }
  /// Lets one thread end, and the others run as far as it needs them to. False: nobody could go on.
  [[nodiscard]] bool finish(std::size_t number) {
    for (unsigned round = 0; round < 2000; ++round) {
      if (run_until(number, never) == stopped::finished) return true;
      for (std::size_t other = 0; other < actors_.size(); ++other) {
        if (other != number) (void)run(other, 1 + round);
      }
    }
    return false;
  }
  /// Lets all threads end, in turn, and joins them.
  [[nodiscard]] bool finish_all() {
    bool all = true;
    for (std::size_t i = 0; i < actors_.size(); ++i) all = finish(i) && all;
    if (!all) std::abort(); // threads that cannot be joined: the message of the caller would never be seen
    for (auto& a : actors_) {
      if (a->thread.joinable()) a->thread.join();
    }
    return all;
  }
  ~scheduler() { (void)finish_all(); }
  scheduler() = default;
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  static bool never(step, const void*) { return false; }
  static bool before_swap(step kind, const void*) { return kind == step::rmw16; }

private:
  struct actor {
    std::binary_semaphore turn{0};
    std::binary_semaphore back{0};
    predicate stop;
    stopped how = stopped::before_step;
    std::thread thread;
  };

  class turns final : public watcher {
  public:
    explicit turns(actor& a) : actor_(a) {}
    void before(step kind, const void* address) override {
      const bool waits = kind == step::wait || ++steps_ == patience;
      if (!waits && !actor_.stop(kind, address)) return;
      actor_.how = waits ? stopped::waiting : stopped::before_step;
      actor_.back.release();
      actor_.turn.acquire();
      steps_ = 0;
    }

  private:
    static constexpr std::uint64_t patience = 4000; // far beyond any verb on a tiny table that waits for nobody
    actor& actor_;
    std::uint64_t steps_ = 0;
  };

  std::vector<std::unique_ptr<actor>> actors_;
};

} // namespace cubby_test
