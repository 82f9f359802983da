// SPDX-License-Identifier: Apache-2.0
// How failures are reported: as exceptions if the build has them. Otherwise these functions return, and the verb that has called them
// answers false. No other file depends on which of the two holds.
#pragma once

#include <exception>
#include <new>

#include <unistd.h>

#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0 {

/// Thrown if a `fixed` table is at its bound.
class table_full : public std::exception {
public:
  [[nodiscard]] const char* what() const noexcept override { return "cubby: the table is full"; }
};

/// Thrown if one bin or chain would get more keys than it may hold, because their hashes agree, or the bits that choose the bin. The
/// table may be nearly empty. Another hash is the remedy.
class table_crowded : public table_full {
public:
  [[nodiscard]] const char* what() const noexcept override {
    return "cubby: too many keys agree in their hash, or in its first bits (more than 15 in one bin of "
           "dlht, or 64 of one hash in relativistic): the table is not full; use a better hash, or options.seed "
           "against chosen keys; "
           "reserve space first if the keys come in the order of a scan of a table with this seed";
  }
};

/// Thrown if a key with a namespace id of 4,096 or more is to be inserted.
class bad_namespace : public std::exception {
public:
  [[nodiscard]] const char* what() const noexcept override { return "cubby: a namespace id must be below 4096"; }
};

/// Thrown if a call would wait for itself for ever. Only debug builds throw it; other builds wait.
class self_deadlock : public std::exception {
public:
  explicit self_deadlock(const char* what) noexcept : what_(what) {}
  [[nodiscard]] const char* what() const noexcept override { return what_; }

private:
  const char* what_;
};

} // namespace cubby::inline v0

// 1: calls that could never end are refused (core/self_wait.hpp). All parts of a program must agree on it, as with assert. Tests that
// run several stacks in one thread of the system set it to 0.
#if !defined(CUBBY_CHECKS)
#if defined(NDEBUG) || (defined(CUBBY_SYNC_HOOKS) && CUBBY_SYNC_HOOKS)
#define CUBBY_CHECKS 0
#else
#define CUBBY_CHECKS 1
#endif
#endif

namespace cubby::inline v0::detail::fail {

inline constexpr bool checks = CUBBY_CHECKS != 0;

/// Says why on standard error, and ends the program.
[[noreturn]] inline void stop(const char* what) noexcept {
  const bool told = ::write(STDERR_FILENO, what, __builtin_strlen(what)) > 0 && ::write(STDERR_FILENO, "\n", 1) == 1;
  static_cast<void>(told); // it ends either way
  __builtin_trap();
}

#if defined(__cpp_exceptions)
inline constexpr bool throws = true;
inline void with_table_full() { throw table_full{}; }
inline void with_table_crowded() { throw table_crowded{}; }
inline void with_bad_namespace() { throw bad_namespace{}; }
inline void with_no_memory() { throw std::bad_alloc{}; }
[[noreturn]] inline void with_self_deadlock(const char* what) { throw self_deadlock(what); }

/// Runs `f`; false if it throws std::bad_alloc. Other exceptions pass.
template <class F> [[nodiscard]] bool attempt(F&& f) {
  try {
    f();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}
/// Runs `f` and drops its exceptions, where no caller could receive them.
template <class F> void regardless(F&& f) noexcept {
  try {
    f();
  } catch (...) { // NOLINT(bugprone-empty-catch): exceptions are dropped on purpose
  }
}
/// Keeps the first exception of several threads, for the one that waits for their end.
class kept_exception {
public:
  /// Runs `f`. False: it has thrown.
  template <class F> bool run(F&& f) noexcept {
    try {
      f();
      return true;
    } catch (...) {
      // relaxed: the end of the threads orders the rest
      if (taken_.exchange(1, sync::relaxed) == 0) first_ = std::current_exception();
      return false;
    }
  }
  /// After the end of the threads.
  void rethrow() const {
    if (first_ != nullptr) std::rethrow_exception(first_);
  }

private:
  sync::word<std::uint32_t> taken_;
  std::exception_ptr first_;
};
#else
inline constexpr bool throws = false;
inline void with_table_full() noexcept {}
inline void with_table_crowded() noexcept {}
inline void with_bad_namespace() noexcept {}
inline void with_no_memory() noexcept {}
[[noreturn]] inline void with_self_deadlock(const char* what) noexcept { stop(what); }

template <class F> [[nodiscard]] bool attempt(F&& f) {
  f();
  return true;
}
template <class F> void regardless(F&& f) noexcept { f(); }
class kept_exception {
public:
  template <class F> bool run(F&& f) noexcept {
    f();
    return true;
  }
  void rethrow() const noexcept {}
};
#endif

} // namespace cubby::inline v0::detail::fail
