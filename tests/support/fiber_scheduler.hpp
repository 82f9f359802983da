// SPDX-License-Identifier: Apache-2.0
// The scheduler over fibers of the test's own thread: a turn is handed over by a switch of stacks, without the system. For scripts
// that have no watchers, and use handles or thread records of their own. The thread's record is one for all of them here, so no
// more than one of them may use it.
#pragma once

#include <cstdlib>

#include "support/fiber.hpp"
#include "support/scheduler.hpp"

namespace cubby_test {

/// A script on a stack of its own. Only the thread that made it may let it go on.
class script_fiber {
public:
  struct surroundings {};
  script_fiber(std::function<void()> script, step_function told)
      : script_(std::move(script)), told_(std::move(told)), home_(take_home()) {
    home_->guest = this;
  }
  ~script_fiber() {
    if (on_its_way_) std::abort(); // the next script on this stack would go on with this one
    idle().push_back(std::move(home_));
  }
  script_fiber(const script_fiber&) = delete;
  script_fiber& operator=(const script_fiber&) = delete;

  void go_on() {
    const listener all(told_);
    fiber::change(thread(), home_->own);
  }
  void give_back() { fiber::change(home_->own, thread()); }

private:
  /// Scripts come to a stack one after the other: to make one takes longer than most of them.
  struct home {
    fiber own{&run, this};
    script_fiber* guest = nullptr;
    static void run(void* self) {
      for (home& here = *static_cast<home*>(self);;) {
        here.guest->on_its_way_ = true;
        here.guest->script_();
        here.guest->on_its_way_ = false;
        here.guest->give_back();
      }
    }
  };
  static fiber& thread() {
    static thread_local fiber mine;
    return mine;
  }
  static std::vector<std::unique_ptr<home>>& idle() {
    static thread_local std::vector<std::unique_ptr<home>> homes;
    return homes;
  }
  static std::unique_ptr<home> take_home() {
    if (idle().empty()) return std::make_unique<home>();
    std::unique_ptr<home> last = std::move(idle().back());
    idle().pop_back();
    return last;
  }

  std::function<void()> script_;
  step_function told_;
  std::unique_ptr<home> home_;
  bool on_its_way_ = false;
};

using fiber_scheduler = scheduler_of<script_fiber>;

} // namespace cubby_test
