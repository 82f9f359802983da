// SPDX-License-Identifier: Apache-2.0
// How a failure leaves the library: as an exception where the build has them; otherwise these functions return and
// the verb that called them answers false. The only place that knows which of the two holds.
#pragma once

#include <exception>
#include <new>

#include <cubby/detail/platform/cpu.hpp>

namespace cubby::inline v0 {

/// A `fixed` table holds as many entries as it may.
class table_full : public std::exception {
public:
  [[nodiscard]] const char* what() const noexcept override { return "cubby: the table is full"; }
};

/// More keys agree in their hash, or in the bits of it that choose a bin, than one bin or chain may hold. The table may be
/// nearly empty: what helps is another hash.
class table_crowded : public table_full {
public:
  [[nodiscard]] const char* what() const noexcept override {
    return "cubby: too many keys agree in their hash (more than 15 in one bin of dlht, or 64 of one hash in "
           "relativistic): "
           "the table is not full, but a larger one would not part them; use a better hash, or options.seed against "
           "chosen keys";
  }
};

/// A namespace id of 4,096 or more came with a key that was to be inserted.
class bad_namespace : public std::exception {
public:
  [[nodiscard]] const char* what() const noexcept override { return "cubby: a namespace id must be below 4096"; }
};

/// A call would wait for its own caller for ever. Thrown in debug builds alone; others wait.
class self_deadlock : public std::exception {
public:
  explicit self_deadlock(const char* what) noexcept : what_(what) {}
  [[nodiscard]] const char* what() const noexcept override { return what_; }

private:
  const char* what_;
};

} // namespace cubby::inline v0

// 1: calls that could never end are refused (core/self_wait.hpp). As with assert, all parts of a program are built alike. Tests
// that switch between several threads' stacks in one thread of the system do without.
#if !defined(CUBBY_CHECKS)
#if defined(NDEBUG) || (defined(CUBBY_SYNC_HOOKS) && CUBBY_SYNC_HOOKS)
#define CUBBY_CHECKS 0
#else
#define CUBBY_CHECKS 1
#endif
#endif

namespace cubby::inline v0::detail::fail {

inline constexpr bool checks = CUBBY_CHECKS != 0;

#if defined(__cpp_exceptions)
inline constexpr bool throws = true;
inline void with_table_full() { throw table_full{}; }
inline void with_table_crowded() { throw table_crowded{}; }
inline void with_bad_namespace() { throw bad_namespace{}; }
inline void with_no_memory() { throw std::bad_alloc{}; }
[[noreturn]] inline void with_self_deadlock(const char* what) { throw self_deadlock(what); }

/// Runs `f`; false when it threw std::bad_alloc. Other exceptions pass.
template <class F> [[nodiscard]] bool attempt(F&& f) {
  try {
    f();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}
/// Runs `f` where nobody can be told: what it throws is dropped.
template <class F> void regardless(F&& f) noexcept {
  try {
    f();
  } catch (...) { // NOLINT(bugprone-empty-catch): that is what it is for
  }
}
#else
inline constexpr bool throws = false;
inline void with_table_full() noexcept {}
inline void with_table_crowded() noexcept {}
inline void with_bad_namespace() noexcept {}
inline void with_no_memory() noexcept {}
[[noreturn]] inline void with_self_deadlock(const char*) noexcept { __builtin_trap(); }

template <class F> [[nodiscard]] bool attempt(F&& f) {
  f();
  return true;
}
template <class F> void regardless(F&& f) noexcept { f(); }
#endif

} // namespace cubby::inline v0::detail::fail
