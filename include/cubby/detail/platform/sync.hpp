// SPDX-License-Identifier: Apache-2.0
// Atomic words, and waiting. `shared` words are atomic; `single` words are plain, for tables of one thread. Builds with
// CUBBY_SYNC_HOOKS call a hook before each access to a shared word, where tests pause, stop, schedule or count. Other builds pay
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/inlining.hpp>

#include <sched.h>

namespace cubby::inline v0::detail::sync {

inline constexpr int relaxed = __ATOMIC_RELAXED;
inline constexpr int acquire = __ATOMIC_ACQUIRE;
inline constexpr int release = __ATOMIC_RELEASE;
inline constexpr int acq_rel = __ATOMIC_ACQ_REL;
inline constexpr int seq_cst = __ATOMIC_SEQ_CST;

/// The kind of the access that comes next, for a hook. A fence has no address.
enum class step : std::uint8_t { load, store, rmw8, rmw16, wait, fence };
using hook_function = void (*)(step kind, const void* address);

#if CUBBY_SYNC_HOOKS
inline hook_function& installed_hook() noexcept {
  static hook_function function = nullptr;
  return function;
}
/// Installs (or with null removes) the hook. Call it while no other thread uses a table.
inline void install_hook(hook_function function) noexcept { installed_hook() = function; }
inline unsigned& steps_in_one() noexcept {
  static constinit thread_local unsigned depth = 0;
  return depth;
}
inline void hook(step kind, const void* address) noexcept {
  if (auto* const function = installed_hook(); function != nullptr && steps_in_one() == 0) function(kind, address);
}
/// While it lives, all accesses of its thread are one step for the hook. For rare sections under a lock in which tests need not stop.
class [[nodiscard]] one_step {
public:
  explicit one_step(const void* address) noexcept {
    hook(step::rmw8, address);
    ++steps_in_one();
  }
  ~one_step() { --steps_in_one(); }
  one_step(const one_step&) = delete;
  one_step& operator=(const one_step&) = delete;
};
#else
CUBBY_ALWAYS_INLINE void hook(step, const void*) noexcept {}
struct [[nodiscard]] one_step {
  explicit one_step(const void*) noexcept {}
  ~one_step() {} // NOLINT: avoids a warning about an unused variable
};
#endif

/// Many threads: every access is atomic.
struct shared {
  static constexpr bool is_shared = true;
};
/// One thread at a time: every access is plain (DLHT section 3.4.5).
struct single {
  static constexpr bool is_shared = false;
};

/// A word of at most 8 bytes. Orders are the constants above; with `single` they have no effect.
template <class T, class Threads = shared> class word {
public:
  constexpr word() noexcept = default;
  explicit constexpr word(T initial) noexcept : value_(initial) {}
  word(const word&) = delete;
  word& operator=(const word&) = delete;

  CUBBY_ALWAYS_INLINE T load(int order) const noexcept {
    if constexpr (!Threads::is_shared) return value_;
    hook(step::load, this);
    return __atomic_load_n(&value_, order);
  }
  /// A sequentially consistent store is a locked exchange on x86-64, and hooks are told so.
  CUBBY_ALWAYS_INLINE void store(T value, int order) noexcept {
    if constexpr (!Threads::is_shared) {
      value_ = value;
    } else {
      hook(order == seq_cst ? step::rmw8 : step::store, this);
      __atomic_store_n(&value_, value, order);
    }
  }
  /// True: the word was `expected` and is `desired` now. False: `expected` receives the word.
  CUBBY_ALWAYS_INLINE bool compare_exchange(T& expected, T desired, int success, int failure) noexcept {
    if constexpr (!Threads::is_shared) {
      if (value_ != expected) {
        expected = value_;
        return false;
      }
      value_ = desired;
      return true;
    } else {
      hook(step::rmw8, this);
      return __atomic_compare_exchange_n(&value_, &expected, desired, false, success, failure);
    }
  }
  /// Adds to a word that no other thread writes. Relaxed.
  CUBBY_ALWAYS_INLINE void add_alone(T amount) noexcept {
    if constexpr (!Threads::is_shared) {
      value_ = static_cast<T>(value_ + amount);
    } else {
      hook(step::load, this);
      hook(step::store, this);
#if defined(__x86_64__) && !defined(__clang__)
      if constexpr (!cpu::thread_sanitizer && sizeof(T) == 8) { // g++ 12 would use three instructions
        asm volatile("addq %1, %0" : "+m"(value_) : "re"(amount) : "cc");
        return;
      }
#endif
      __atomic_store_n(&value_, static_cast<T>(__atomic_load_n(&value_, relaxed) + amount), relaxed);
    }
  }
  CUBBY_ALWAYS_INLINE T exchange(T value, int order) noexcept {
    if constexpr (!Threads::is_shared) {
      const T before = value_;
      value_ = value;
      return before;
    } else {
      hook(step::rmw8, this);
      return __atomic_exchange_n(&value_, value, order);
    }
  }
  CUBBY_ALWAYS_INLINE T fetch_add(T amount, int order) noexcept {
    if constexpr (!Threads::is_shared) {
      const T before = value_;
      value_ = static_cast<T>(value_ + amount);
      return before;
    } else {
      hook(step::rmw8, this);
      return __atomic_fetch_add(&value_, amount, order);
    }
  }

private:
  T value_{};
};

/// Moves a word of an idle table to another table, and leaves zero. No other thread is here.
template <class T, class Threads> void hand_over(word<T, Threads>& to, word<T, Threads>& from) noexcept {
  to.store(from.load(relaxed), relaxed); // relaxed, both: no other thread is here
  from.store(T{}, relaxed);              // relaxed: as above
}

/// Spins for a short time, then yields to other threads. Use one object for each wait.
class backoff {
public:
  void pause() noexcept {
    hook(step::wait, this);
    if (pauses_ < 64) cpu::relax();
    else sched_yield();
    if (pauses_ < long_wait) ++pauses_;
  }
  /// True after 64 short pauses and 192 yields. For callers that can then proceed in another way.
  [[nodiscard]] bool has_been_long() const noexcept { return pauses_ == long_wait; }

private:
  static constexpr unsigned long_wait = 256;
  unsigned pauses_ = 0;
};

} // namespace cubby::inline v0::detail::sync
