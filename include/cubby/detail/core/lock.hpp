// SPDX-License-Identifier: Apache-2.0
// A small lock for rare and short work inside an engine: to hand over retired memory, to create the next index. It is never held
// while the user's code runs, with the exceptions that docs/guarantees/letters.md names. It spins, then yields. It is not fair.
#pragma once

#include <cstdint>

#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail {

/// What an unlock does, beside giving the lock to the next holder.
enum class unlocking : std::uint8_t {
  plain,
  seen ///< all threads see what was stored under the lock before its holder loads anything else
};

template <class Threads = sync::shared, unlocking How = unlocking::plain> class small_lock {
public:
  void lock() noexcept {
    sync::backoff wait;
    std::uint32_t free = 0;
    // [lock] acquire: pairs with [unlock], and with [unlock-seen]
    // relaxed: a failed attempt reads nothing that the lock protects
    while (!held_.compare_exchange(free, 1, sync::acquire, sync::relaxed)) {
      free = 0;
      wait.pause();
    }
  }
  bool try_lock() noexcept {
    std::uint32_t free = 0;
    // [lock] acquire: pairs with [unlock], and with [unlock-seen]
    // relaxed: as above
    return held_.compare_exchange(free, 1, sync::acquire, sync::relaxed);
  }
  void unlock() noexcept {
    if constexpr (How == unlocking::seen) {
      // [unlock-seen] seq_cst: pairs with [lock]; the next verb's first load is seq_cst as well, and stays behind it
      held_.store(0, sync::seq_cst);
    } else {
      // [unlock] release: pairs with [lock]
      held_.store(0, sync::release);
    }
  }

private:
  sync::word<std::uint32_t, Threads> held_;
};

/// Holds a lock until the end of a scope.
template <class Lock> class [[nodiscard]] lock_scope {
public:
  explicit lock_scope(Lock& l) noexcept : lock_(l) { lock_.lock(); }
  ~lock_scope() { lock_.unlock(); }
  lock_scope(const lock_scope&) = delete;
  lock_scope& operator=(const lock_scope&) = delete;

private:
  Lock& lock_;
};

} // namespace cubby::inline v0::detail
