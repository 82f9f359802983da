// SPDX-License-Identifier: Apache-2.0
// Runs the threads of a scenario as fibers, one at a time, with a decision before each atomic step. A thread that waits
// gives its turn away and is not ready until a word that it has read since its last wait changes; when nobody is ready
// all are tried again, and if round after round changes nothing that is a livelock. Explores sequentially consistent
// orders; what weaker orders allow is left to the litmus tests and ThreadSanitizer.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "explore/fiber.hpp"
#include "explore/schedule.hpp"

static_assert(CUBBY_SYNC_HOOKS, "the explorer is built with hooks");

namespace cubby_test {

class conductor {
public:
  using body_function = std::function<void(unsigned thread)>;
  /// Is told of each step just before it is carried out; only while somebody wants a trace.
  using listener = std::function<void(const taken_step&)>;

  static conductor& instance();

  /// Runs `body(i)` for each of `count` threads to their ends, or until the schedule turns out to have none. Then the
  /// fibers stay where they are, for ever, and so must everything that they refer to.
  ending run(unsigned count, const body_function& body, chooser& who);

  /// Where each decision of the last run was taken.
  [[nodiscard]] const std::vector<decision_point>& points() const noexcept { return points_; }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
  /// For the code inside a fiber: that its next call begins, and a stamp that orders calls and returns.
  void begin_call() noexcept { ++threads_[running_].call; }
  std::uint64_t stamp() noexcept { return ++stamps_; }
  void new_history() noexcept { stamps_ = 0; }
  void listen(listener to) { listener_ = std::move(to); }

private:
  struct access {
    std::uintptr_t word;
    std::uint64_t time;
  };
  struct thread {
    std::unique_ptr<fiber> own;
    std::uint32_t steps = 0;
    std::uint32_t call = 0;
    std::vector<access> seen; // since its last wait
    // what the step that comes next, or has just been done, may change; size 0: nothing
    std::uintptr_t target = 0;
    unsigned target_words = 0;
    bool always_changes = false;
    std::uint64_t before[2] = {};
  };

  conductor();
  static void hook(step kind, const void* address);
  static inline conductor* hooked_ = nullptr;
  static void enter(void* self);
  void before(step kind, const void* address);
  void end_of_thread();
  void settle(thread& t);
  void changed(std::uintptr_t word);
  void note(thread& t, step kind, const void* address);
  bool falls_asleep(thread& t);
  std::uint8_t decide(bool forced);
  void pass_turn(std::uint8_t next);
  void stop(ending how);

  fiber main_;
  thread threads_[most_threads];
  std::vector<std::unique_ptr<fiber>> lost_; // of schedules without an end
  const body_function* body_ = nullptr;
  chooser* chooser_ = nullptr;
  listener listener_;
  std::vector<decision_point> points_;
  std::vector<access> changes_;
  std::uint64_t steps_ = 0;
  std::uint64_t stamps_ = 0;
  unsigned rounds_ = 0;
  ending how_ = ending::finished;
  std::uint8_t running_ = nobody;
  std::uint8_t starting_ = 0;
  std::uint8_t alive_ = 0;
  std::uint8_t asleep_ = 0;
};

} // namespace cubby_test
