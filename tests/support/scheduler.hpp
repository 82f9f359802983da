// SPDX-License-Identifier: Apache-2.0
// A deterministic scheduler over atomic steps: of the threads of a test exactly one runs at a time, and the test says
// which one and how far. A thread that would wait for another, or goes on suspiciously long, gives the turn back.
// Explores sequentially consistent interleavings; weaker ones are left to the random tests and ThreadSanitizer.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include "support/hooks.hpp"
#include "support/one_processor.hpp"

namespace cubby_test {

using step_function = std::function<void(step, const void*)>;

/// Calls a function before each step of the thread that made it.
class listener final : public watcher {
public:
  explicit listener(const step_function& told) : told_(told) {}
  void before(step kind, const void* address) override { told_(kind, address); }

private:
  const step_function& told_;
};

/// A script in a thread of its own, which runs only while the test waits for it.
class script_thread {
public:
  /// What a scheduler of such scripts keeps while it lives.
  using surroundings = one_processor;
  script_thread(std::function<void()> script, step_function told)
      : script_(std::move(script)), told_(std::move(told)), thread_([this] { run(); }) {}
  ~script_thread() { thread_.join(); }
  script_thread(const script_thread&) = delete;
  script_thread& operator=(const script_thread&) = delete;

  /// For the test: returns when the script has given the turn back, or has ended.
  void go_on() {
    turn_.release();
    back_.acquire();
  }
  /// For the script: returns at the next `go_on`.
  void give_back() {
    back_.release();
    turn_.acquire();
  }

private:
  void run() {
    turn_.acquire();
    {
      const listener all(told_);
      script_();
    }
    back_.release();
  }
  std::function<void()> script_;
  step_function told_;
  std::binary_semaphore turn_{0};
  std::binary_semaphore back_{0};
  std::thread thread_;
};

/// What schedulers of all kinds have in common.
struct scheduler_words {
  /// Stops the thread before a step for which it is true.
  using predicate = std::function<bool(step, const void*)>;
  enum class stopped : std::uint8_t { before_step, waiting, finished };

  static bool never(step, const void*) { return false; }
  static bool before_swap(step kind, const void*) { return kind == step::rmw16; }
};

/// `Script`: what a script runs in, `script_thread` or another with the same API (fiber_scheduler.hpp).
template <class Script>
class scheduler_of : public scheduler_words {
public:
  /// Starts a thread, which stands still before its first step. Returns its number.
  std::size_t start(std::function<void()> script) {
    actor& mine = *actors_.emplace_back(std::make_unique<actor>());
    const auto whole = [&mine, script = std::move(script)] {
      script();
      mine.how = stopped::finished;
    };
    mine.stage.emplace(whole, [&mine](step kind, const void* address) { mine.before(kind, address); });
    return actors_.size() - 1;
  }

  /// Lets the thread run until `stop` is true before one of its steps, or it would wait, or it ends.
  stopped run_until(std::size_t number, predicate stop) {
    actor& a = *actors_[number];
    if (a.how == stopped::finished) return a.how;
    a.stop = std::move(stop);
    a.steps = 0;
    a.stage->go_on();
    return a.how;
  }
  /// At most `steps` steps.
  stopped run(std::size_t number, std::uint64_t steps) {
    return run_until(number, [left = steps](step, const void*) mutable { return left-- == 0; });
  }
  /// Lets the thread run until it ends, false: until it would wait, or goes on for longer than any script does. In slices,
  /// each of fewer steps than are taken for waiting.
  [[nodiscard]] bool ends_alone(std::size_t number) {
    for (unsigned slices = 0; slices < 1000; ++slices) {
      const stopped how = run(number, 3000);
      if (how != stopped::before_step) return how == stopped::finished;
    }
    return false;
  }
  /// Lets one thread end, and the others run as far as it needs them to. False: no thread could go on.
  [[nodiscard]] bool finish(std::size_t number) {
    for (unsigned round = 0; round < 2000; ++round) {
      if (run_until(number, never) == stopped::finished) return true;
      for (std::size_t other = 0; other < actors_.size(); ++other) {
        if (other != number) (void)run(other, 1 + round);
      }
      // They may wait for a thread of the table itself, which is not under this scheduler: on a busy machine that needs time.
      if (round >= 100) std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return false;
  }
  /// Lets all threads end, in turn, and joins them.
  [[nodiscard]] bool finish_all() {
    bool all = true;
    for (std::size_t i = 0; i < actors_.size(); ++i) all = finish(i) && all;
    if (!all) std::abort(); // threads that cannot be joined: the message of the caller would never be seen
    for (auto& a : actors_) a->stage.reset();
    return all;
  }
  ~scheduler_of() { (void)finish_all(); }
  scheduler_of() = default;
  scheduler_of(const scheduler_of&) = delete;
  scheduler_of& operator=(const scheduler_of&) = delete;

private:
  struct actor {
    static constexpr std::uint64_t reader_backoff =
        4000; // far beyond any verb on a tiny table that waits for no thread
    void before(step kind, const void* address) {
      const bool waits = kind == step::wait || ++steps == reader_backoff;
      if (!waits && !stop(kind, address)) return;
      how = waits ? stopped::waiting : stopped::before_step;
      stage->give_back();
    }
    predicate stop;
    stopped how = stopped::before_step;
    std::uint64_t steps = 0;
    std::optional<Script> stage;
  };

  [[maybe_unused]] typename Script::surroundings surroundings_;
  std::vector<std::unique_ptr<actor>> actors_;
};

using scheduler = scheduler_of<script_thread>;

} // namespace cubby_test
