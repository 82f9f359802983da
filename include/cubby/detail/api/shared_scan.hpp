// SPDX-License-Identifier: Apache-2.0
// Scans by several threads: those that the call makes, or those of an executor. The call waits for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <cubby/detail/api/operations.hpp>
#include <cubby/detail/api/scan_ahead.hpp>
#include <cubby/detail/core/contract/engine.hpp>
#include <cubby/detail/platform/fail.hpp>
#include <cubby/detail/platform/parallel.hpp>

namespace cubby::inline v0 {

/// In how many threads a call does its work, the caller included: at least 1, at most 64.
class threads {
public:
  constexpr explicit threads(std::size_t count) noexcept : count_(count) {}
  [[nodiscard]] constexpr unsigned count() const noexcept {
    return static_cast<unsigned>(count_ < most ? count_ : most);
  }

private:
  static constexpr std::size_t most = 64;
  std::size_t count_;
};

/// The same in threads that an executor has: `cubby::on(pool, 4)`. The caller works, too, and hands at most `count - 1` tasks over: by
/// `executor.execute(task)`, as the executors of Asio have it, or by `executor(task)`, so that a lambda can serve any pool. A task is a
/// copyable function without arguments, and does not throw. The call returns when the scan has ended and no task runs; one that starts
/// later does nothing. So it never waits for a task that has not started, also if the pool is busy or is the caller's. An exception of
/// the executor passes before the caller works, when no task runs any more.
template <class Executor> class on {
public:
  constexpr on(Executor&& executor, std::size_t count) : given_{std::forward<Executor>(executor)}, count_(count) {}
  [[nodiscard]] constexpr unsigned count() const noexcept { return count_.count(); }
  template <class Task> void execute(Task task) const {
    if constexpr (requires { given_.executor.execute(task); }) given_.executor.execute(task);
    else given_.executor(task);
  }

private:
  struct given {
    Executor executor; // a reference, unless `on` was given a temporary
  };
  mutable given given_;
  threads count_;
};
template <class Executor> on(Executor&&, std::size_t) -> on<Executor>;

namespace detail {

/// How the threads of a call are found: `run(by, f)` calls `f(number)` in the caller, with number 0, and in others, and returns when all
/// calls have returned. <cubby/execution.hpp> adds the policies of the standard library.
template <class By> struct team {};
template <> struct team<threads> {
  template <class F> static void run(threads by, F f) noexcept { in_parallel(by.count(), f); }
};
template <class Executor> struct team<on<Executor>> {
  template <class F> static void run(const on<Executor>& by, F f) {
    in_tasks(by.count(), [&by](const auto& task) { by.execute(task); }, f);
  }
};
template <class By> concept workers = requires(const By& by, void (*f)(unsigned)) { team<By>::run(by, f); };

/// Asserts in one line what stands where the threads of a call belong.
template <class By> constexpr bool is_team() noexcept {
  static_assert(workers<By>,
                "in which threads a call works is said by cubby::threads(n), by cubby::on(executor, n), or by a "
                "std::execution policy if <cubby/execution.hpp> is included");
  return workers<By>;
}
/// Whether the engine splits a scan among `By`; else it is an error.
template <class Engine, class By> constexpr bool splits() noexcept {
  static_assert(contract::splittable<Engine> || !workers<By>,
                "this engine does not split a scan: leave out threads(n)");
  return is_team<By>() && contract::splittable<Engine>;
}

/// Calls `f(context, key words, value words)` for each entry that a scan shows, in the threads of `by`. Each thread has a guard of its own;
/// that of the caller keeps the index of the scan. A false answer of `f` ends the scan soon. So does the first exception, which passes
/// when all have ended. Whether every answer was true.
template <class Engine, class By, class F> bool scan_together(const context<Engine>& s, const By& by, F f) {
  [[maybe_unused]] const auto pin = s.engine.pin(s.at);
  auto shared = s.engine.begin_shared_scan();
  fail::kept_exception error;
  sync::word<std::uint32_t> ended;
  team<By>::run(by, [&](unsigned number) {
    thread_record* const mine = number == 0 ? &s.at : s.engine.local_thread_record();
    if (mine == nullptr) return; // no memory: the others show its part
    const context<Engine> own{s.engine, *mine};
    [[maybe_unused]] const auto own_pin = s.engine.pin(*mine);
    const auto show = [&](const auto& key, const auto& value) {
      // relaxed: a thread that sees the end late shows a few entries more
      if (ended.load(sync::relaxed) != 0 || f(own, key, value)) return;
      ended.store(1, sync::relaxed);
      s.engine.end_shared_scan(shared);
    };
    const auto part = [&](auto& shown) { s.engine.for_each_of(shared, *mine, shown); };
    if (!error.run([&] { scan_ahead(s.codec(), part, show); })) s.engine.end_shared_scan(shared);
  });
  error.rethrow();
  return ended.load(sync::relaxed) == 0; // relaxed: the end of the threads orders it
}

/// Calls `f(key words, value words) -> bool` for each entry that a scan shows, until it returns false: whether it never did. An engine that
/// splits a scan is asked to end the part that the caller has taken. Under a guard.
template <class Engine, class F> bool scan_while(const context<Engine>& s, F f) {
  bool all = true;
  if constexpr (contract::splittable<std::remove_reference_t<decltype(s.engine)>>) {
    auto shared = s.engine.begin_shared_scan();
    const auto part = [&](auto& shown) { s.engine.for_each_of(shared, s.at, shown); };
    scan_ahead(s.codec(), part, [&](const auto& key, const auto& value) {
      if (!all) return;
      all = f(key, value);
      if (!all) s.engine.end_shared_scan(shared);
    });
  } else {
    const auto whole = [&](auto& shown) { s.engine.for_each(s.at, shown); };
    scan_ahead(s.codec(), whole, [&](const auto& key, const auto& value) { all = all && f(key, value); });
  }
  return all;
}

} // namespace detail

} // namespace cubby::inline v0
