// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lookups as coroutines, for callers that cannot batch (DLHT section 3.3). A lookup prefetches its bin and lets other tasks of
/// its runner go on. It takes a turn more for each of what the bin leads to: a slot elsewhere, a record. Then it reads the entry.
/// All tasks run in the thread that calls `run`. Beside the coroutines' frames nothing is allocated.
#pragma once

#include <cubby/detail/platform/cpu.hpp> // first: it says which C++ is needed

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

#include <cubby/detail/api/engine_access.hpp>
#include <cubby/detail/api/operations.hpp>

namespace cubby::inline v0 {

class round_robin;

namespace detail {

/// The step of a suspended task at its next turn. It answers true if the task can go on.
struct turn {
  bool (*step)(turn&) = nullptr;
};

} // namespace detail

/// A coroutine without a result, to be given to a runner. A task that is never started only frees its frame. The objects to which
/// its parameters and captures refer must live until `run` has returned.
class task {
public:
  struct promise_type {
    round_robin* runner = nullptr;
    promise_type* next = nullptr;
    detail::turn* waiting = nullptr;
    std::exception_ptr error;

    task get_return_object() noexcept { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    static std::suspend_always initial_suspend() noexcept { return {}; }
    static std::suspend_always final_suspend() noexcept { return {}; }
    static void return_void() noexcept {}
    void unhandled_exception() noexcept { error = std::current_exception(); }
  };

  task(task&& other) noexcept : own_(std::exchange(other.own_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    std::swap(own_, other.own_);
    return *this;
  }
  ~task() {
    if (own_) own_.destroy();
  }

private:
  friend class round_robin;
  explicit task(std::coroutine_handle<promise_type> own) noexcept : own_(own) {}
  std::coroutine_handle<promise_type> own_;
};

/// Runs tasks in turn, at most `width` of them at a time. A good width is the number of memory reads in flight, 8 to 32.
class round_robin {
public:
  explicit round_robin(std::size_t width = 16) noexcept : width_(width == 0 ? 1 : width) {}
  round_robin(const round_robin&) = delete;
  round_robin& operator=(const round_robin&) = delete;
  ~round_robin() {
    while (promise* const p = waiting_.pop()) destroy(p);
  }

  /// Takes a task. It starts in `run`, after the tasks that were spawned before it. A running task may spawn others.
  void spawn(task t) noexcept {
    promise& p = std::exchange(t.own_, nullptr).promise();
    p.runner = this;
    waiting_.push(&p);
  }

  /// Runs until every task has ended. Then it throws the first exception that left a task, if there was one. A task of this
  /// runner must not call it.
  void run() {
    std::exception_ptr first;
    for (std::size_t active = 0;;) {
      for (; active < width_ && !waiting_.empty(); ++active) ready_.push(waiting_.pop());
      promise* const p = ready_.pop();
      if (p == nullptr) break;
      if (!go_on(p)) {
        ready_.push(p);
        continue;
      }
      if (p->error && !first) first = p->error;
      destroy(p);
      --active;
    }
    if (first) std::rethrow_exception(first);
  }

private:
  using promise = task::promise_type;
  using handle_type = std::coroutine_handle<promise>;

  /// A queue, linked through the promises.
  class line {
  public:
    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
    void push(promise* p) noexcept {
      p->next = nullptr;
      (first_ == nullptr ? first_ : last_->next) = p;
      last_ = p;
    }
    promise* pop() noexcept {
      promise* const p = first_;
      if (p != nullptr) first_ = p->next;
      return p;
    }

  private:
    promise* first_ = nullptr;
    promise* last_ = nullptr;
  };

  /// One turn of a task; true when it has ended.
  static bool go_on(promise* p) {
    if (p->waiting != nullptr && !p->waiting->step(*p->waiting)) return false;
    p->waiting = nullptr;
    const auto own = handle_type::from_promise(*p);
    own.resume();
    return own.done();
  }
  static void destroy(promise* p) noexcept { handle_type::from_promise(*p).destroy(); }

  std::size_t width_;
  line waiting_; // not yet started
  line ready_;   // started
};

/// To be awaited at once, inside a task. The result is that of `find`, or of `contains` for a set. It cannot be moved.
template <class Api> class async_lookup : detail::turn {
  using codec_type = typename Api::engine_type::policy;
  using probe = typename Api::engine_type::probe;
  static_assert(detail::contract::prefetching<typename Api::engine_type>,
                "this engine cannot ask memory for an entry ahead");

public:
  template <class Q>
  async_lookup(const Api& api, const Q& key)
      : api_(api), probe_(detail::engine_access::context_of(api).codec().probe_of(key)) {}
  async_lookup(const async_lookup&) = delete;
  async_lookup& operator=(const async_lookup&) = delete;

  [[nodiscard]] static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<task::promise_type> who) {
    step = [](detail::turn& self) { return static_cast<async_lookup&>(self).advance(); };
    who.promise().waiting = this;
    const auto s = detail::engine_access::context_of(api_);
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    s.engine.prefetch(probe_);
  }
  [[nodiscard]] auto await_resume() const {
    const auto s = detail::engine_access::context_of(api_);
    [[maybe_unused]] const auto pin = s.engine.pin(s.at);
    const auto seen = s.engine.find(s.at, probe_);
    if constexpr (codec_type::has_values) {
      using result = std::optional<typename codec_type::mapped_type>;
      return seen.found ? result(s.codec().value(seen.word)) : result();
    } else {
      return seen.found;
    }
  }

private:
  /// Runs one turn after the prefetch of the bin. True: there is nothing else to wait for.
  bool advance() {
    using engine = typename Api::engine_type;
    constexpr unsigned seconds = detail::contract::entries_behind_line<engine> ? 1 : 0;
    constexpr unsigned records = detail::contract::prefetching_record<engine> ? 1 : 0;
    if constexpr (seconds + records != 0) {
      if (turns_ == seconds + records) return true;
      const auto s = detail::engine_access::context_of(api_);
      [[maybe_unused]] const auto pin = s.engine.pin(s.at);
      if constexpr (seconds != 0) {
        if (turns_ == 0) s.engine.prefetch_second(probe_);
      }
      if constexpr (records != 0) {
        if (turns_ == seconds) s.engine.prefetch_record(probe_);
      }
      ++turns_;
      return false;
    }
    return true;
  }

  const Api& api_;
  probe probe_;
  unsigned turns_ = 0; // after the prefetch of the bin
};

} // namespace cubby::inline v0
