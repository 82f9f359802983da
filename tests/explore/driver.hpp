// SPDX-License-Identifier: Apache-2.0
// Runs the threads of a scenario as fibers, one at a time, with a decision before each atomic step. A thread that waits
// gives its turn away and is not ready until a word that it has read since its last wait changes. When no thread is
// ready all are tried again. If round after round changes nothing, that is a livelock. A table's own thread, its mover,
// is one more fiber. Explores sequentially consistent orders; what weaker orders allow is left to the litmus tests and
// ThreadSanitizer.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <cubby/detail/core/registry.hpp>
#include <cubby/detail/platform/thread.hpp>

#include "explore/schedule.hpp"
#include "support/fiber.hpp"

static_assert(CUBBY_SYNC_HOOKS, "the explorer is built with hooks");

namespace cubby_test {

/// For a thread record of fibers that never go on: their pins must not hold up the tables of the runs that follow.
inline void leave_for_good(cubby::detail::thread_record& s) {
  while (cubby::detail::registry::inside(s)) cubby::detail::registry::leave(s);
}

class driver {
public:
  using body_function = std::function<void(unsigned thread)>;
  /// Is told of each step just before it is carried out; only while a trace is wanted.
  using listener = std::function<void(const taken_step&)>;

  static driver& instance();

  /// Runs `body(i)` for each of `count` threads to their ends and the mover, if there is one, until it sleeps or has
  /// ended. It also stops when the schedule turns out to have no end. Then the fibers stay where they are, for ever,
  /// and so must everything that they refer to.
  ending run(unsigned count, const body_function& body, chooser& who);
  /// Between runs: lets the mover go on alone until it sleeps. No part of a schedule.
  ending rest();
  /// Whether a table's thread is there: from its start until a thread has waited for its end.
  [[nodiscard]] bool has_mover() const noexcept { return mover_.run != nullptr; }

  /// Where each decision of the last run was taken.
  [[nodiscard]] const std::vector<decision_point>& points() const noexcept { return points_; }
  /// Whether the last departure of the last run made no difference. That is so where a thread lost its turn before a
  /// step that shares no word with what the others then did until it went on. To lose the turn one step later is the
  /// same. Only for two threads, and only where no stamp is taken between the two steps: that would move, too.
  [[nodiscard]] bool last_departure_was_idle() const;
  /// Carries `f` out as a part of the step before it: for steps that share no word with any other thread's, and do not wait.
  template <class F>
  void unseen(F f) {
    const std::uint8_t me = running_;
    running_ = nobody;
    f();
    running_ = me;
  }
  /// For the code inside a fiber: that its next call begins, and a stamp that orders calls and returns.
  void begin_call() noexcept { ++threads_[running_].call; }
  std::uint64_t stamp() noexcept {
    if (running_ != nobody) ++threads_[running_].stamps;
    return ++stamps_;
  }
  void new_history() noexcept {
    stamps_ = 0;
    points_.clear();
  }
  void listen(listener to) { listener_ = std::move(to); }

private:
  /// The one worker that lives, on the last of the fibers.
  struct worker {
    void* (*run)(void*) = nullptr;
    void* argument = nullptr;
    const void* notices = nullptr; // while it sleeps: a word that changes when it is to wake
    std::uint64_t slept_on = 0;    // what was in that word
    cubby::detail::sync::word<std::uint32_t> ended{0};
  };
  struct access {
    std::uintptr_t word;
    std::uint64_t time;
  };
  struct done_step {
    std::uintptr_t word; // 0: it waited
    std::uint32_t number;
    std::uint32_t stamps; // that its thread had taken
    std::uint8_t thread;
    bool both_words;
    bool writes;
  };
  struct thread {
    std::unique_ptr<fiber> own;
    std::uint32_t steps = 0;
    std::uint32_t call = 0;
    std::uint32_t stamps = 0;
    std::vector<access> seen; // since its last wait
    // what the step that comes next, or has just been done, may change; size 0: nothing
    std::uintptr_t target = 0;
    unsigned target_words = 0;
    bool always_changes = false;
    std::uint64_t before[2] = {};
  };

  driver();
  static void hook(step kind, const void* address);
  static inline driver* hooked_ = nullptr;
  static void enter(void* self);
  static bool start_mover(void* (*run)(void*), void* worker);
  static void sleep(const void* notices);
  static void join_mover(void* worker);
  void run_mover();
  [[nodiscard]] bool mover_is_asleep() const;
  [[nodiscard]] bool all_is_done() const;
  ending go(unsigned count, chooser& who);
  void before(step kind, const void* address);
  void end_of_thread();
  void end_step(thread& t);
  void changed(std::uintptr_t word);
  void note(thread& t, step kind, const void* address);
  bool falls_asleep(thread& t);
  std::uint8_t decide(bool forced);
  void pass_turn(std::uint8_t next);
  void stop(ending how);

  fiber main_;
  thread threads_[most_threads];
  worker mover_;
  std::vector<std::unique_ptr<fiber>> lost_; // of schedules without an end
  const body_function* body_ = nullptr;
  chooser* chooser_ = nullptr;
  listener listener_;
  std::vector<decision_point> points_;
  std::vector<access> changes_;
  std::vector<done_step> done_;
  std::uint64_t steps_ = 0;
  std::uint64_t last_step_ = 0; // before this run counts as endless
  std::uint64_t stamps_ = 0;
  unsigned rounds_ = 0;
  ending how_ = ending::finished;
  std::uint8_t running_ = nobody;
  std::uint8_t starting_ = 0;
  std::uint8_t count_ = 0;
  std::uint8_t alive_ = 0;
  std::uint8_t asleep_ = 0;
};

} // namespace cubby_test
