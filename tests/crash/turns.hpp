// SPDX-License-Identifier: Apache-2.0
// Threads that take turns on one medium, step by step. A step is carried out when its thread has the turn again.
#pragma once

#include <utility>
#include <vector>

#include "crash/medium.hpp"
#include "support/fiber_scheduler.hpp"

namespace cubby_test::crash {

class turns {
public:
  explicit turns(medium& on) : on_(on) {}
  /// The number of the thread is that of the call.
  template <class F> void start(F f) {
    (void)threads_.start(std::move(f));
    parked_.emplace_back();
  }
  /// So many steps of a thread, and fewer if `stops(kind)`. True: it has ended.
  template <class Stops> bool go(std::size_t actor, std::uint64_t steps, Stops stops) {
    on_.turn_to(static_cast<unsigned>(actor));
    on_.before_step(parked_[actor].kind, parked_[actor].address); // it is carried out now
    parked_[actor] = {};
    const auto how = threads_.run_until(actor, [&, left = steps](step kind, const void* address) mutable {
      if (stops(kind) || left-- == 0) {
        parked_[actor] = {kind, address};
        return true;
      }
      on_.before_step(kind, address);
      return false;
    });
    return how == fiber_scheduler::stopped::finished;
  }

private:
  struct parked_step {
    step kind = step::load;
    const void* address = nullptr;
  };
  medium& on_;
  fiber_scheduler threads_;
  std::vector<parked_step> parked_;
};

} // namespace cubby_test::crash
