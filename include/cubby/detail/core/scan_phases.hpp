// SPDX-License-Identifier: Apache-2.0
// A scan in phases that threads share. In some tables an entry that moves goes to a later part of the table, so a scan goes from part to
// part in that order. Each part is a phase: its units are shared out, and no thread begins the next phase before all units have been
// shown. So threads wait for each other at the end of a part, and for the functions of a scan that run in the others.
#pragma once

#include <cstdint>

#include <cubby/detail/core/lock.hpp>

namespace cubby::inline v0::detail {

/// Tells `f`, which a scan shows entries to, that a part ends: an `f` that shows entries later shows them now. Otherwise an entry that it has
/// yet to show moves, is met in the next part, and is shown twice, the second time perhaps after its erasure.
template <class F> CUBBY_ALWAYS_INLINE void end_part(F& f) {
  if constexpr (requires { f.end_part(); }) f.end_part();
}

/// `Phase` can be made without arguments and copied, and its `units` is the number of its units.
template <class Phase> class scan_phases {
public:
  explicit scan_phases(const Phase& first) noexcept : phase_(first) {}

  /// Calls `show(phase, first, count)` for units that no other thread has taken, until the last phase has ended. When all units of a phase
  /// have been shown, one thread calls `to_next(phase&) -> bool`, under a lock. False: it was the last one.
  template <class Show, class Next> void share_out(std::uint64_t at_a_time, Show show, Next to_next) {
    part mine{};
    while (take(mine, at_a_time, to_next)) {
      const end_of_part ends(*this);
      show(mine.phase, mine.first, mine.count);
    }
  }
  /// Nothing more is taken.
  void end() noexcept {
    const lock_scope alone(lock_);
    over_ = true;
  }

private:
  struct part {
    Phase phase;
    std::uint64_t first;
    std::uint64_t count;
  };
  class [[nodiscard]] end_of_part {
  public:
    explicit end_of_part(scan_phases& of) noexcept : of_(of) {}
    ~end_of_part() {
      const lock_scope alone(of_.lock_);
      --of_.busy_;
    }
    end_of_part(const end_of_part&) = delete;
    end_of_part& operator=(const end_of_part&) = delete;

  private:
    scan_phases& of_;
  };

  /// False: the scan is over.
  template <class Next> bool take(part& out, std::uint64_t at_a_time, Next& to_next) {
    for (sync::backoff wait;; wait.pause()) {
      const lock_scope alone(lock_);
      while (!over_ && next_ == phase_.units && busy_ == 0) {
        over_ = !to_next(phase_);
        next_ = 0;
      }
      if (over_) return false;
      if (next_ == phase_.units) continue; // others still show their parts
      const std::uint64_t left = phase_.units - next_;
      out = {phase_, next_, at_a_time < left ? at_a_time : left};
      next_ += out.count;
      ++busy_;
      return true;
    }
  }

  small_lock<> lock_; // of all that follows
  Phase phase_;
  std::uint64_t next_ = 0; // the first unit of the phase that no thread has taken
  std::uint64_t busy_ = 0; // threads that show a part of the phase
  bool over_ = false;
};

} // namespace cubby::inline v0::detail
