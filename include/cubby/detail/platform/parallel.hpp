// SPDX-License-Identifier: Apache-2.0
// A function run by several threads at once, for work that a caller waits for. pthread, as in thread.hpp.
#pragma once

#include <cubby/detail/platform/fail.hpp>
#include <cubby/detail/platform/sync.hpp>

#include <new>
#include <utility>

#include <pthread.h>
#include <unistd.h>

namespace cubby::inline v0::detail {

/// The processors that the system has.
inline unsigned processors() noexcept {
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : static_cast<unsigned>(n);
}

/// Calls `f(number)` for each number below `threads`, in as many threads as the system gives; returns when all calls have returned.
template <class F> void in_parallel(unsigned threads, F f) noexcept {
  constexpr unsigned most = 64;
  if (threads > most) threads = most;
  struct share {
    F* function;
    unsigned number;
    pthread_t thread;
    bool running;
  } shares[most];
  const auto run = [](void* of) -> void* {
    auto& mine = *static_cast<share*>(of);
    (*mine.function)(mine.number);
    return nullptr;
  };
  for (unsigned i = 1; i < threads; ++i) {
    shares[i] = {&f, i, {}, false};
    shares[i].running = pthread_create(&shares[i].thread, nullptr, run, &shares[i]) == 0;
  }
  f(0U);
  for (unsigned i = 1; i < threads; ++i) {
    if (shares[i].running) pthread_join(shares[i].thread, nullptr);
    else f(i);
  }
}

/// What a call shares with the tasks that it has handed to others. It lives as long as one of them.
class shared_tasks {
public:
  /// Null without memory.
  static shared_tasks* make(void (*call)(void*, unsigned), void* function) noexcept {
    return ::new (std::nothrow) shared_tasks(call, function);
  }
  /// Runs the function, unless the call has ended, or this thread is inside one of its functions already. A function may wait for its
  /// pool, and the pool may let the waiting thread run other tasks. Such a task could wait for the part that this thread has begun.
  void run() noexcept {
    if (is_inside()) return;
    if (const unsigned number = begin(); number != 0) {
      const inside here(*this);
      call_(function_, number);
      const locked alone(lock_);
      if (--running_ == 0) pthread_cond_signal(&none_runs_);
    }
  }
  /// From now on no task begins; returns when none runs.
  void end() noexcept {
    const locked alone(lock_);
    over_ = true;
    while (running_ != 0) pthread_cond_wait(&none_runs_, &lock_);
  }
  /// That this thread is inside a function of these tasks. Scopes of a thread end in the reverse order of their beginnings.
  class [[nodiscard]] inside {
  public:
    explicit inside(const shared_tasks& of) noexcept : of_(&of), outer_(std::exchange(innermost, this)) {}
    ~inside() { innermost = outer_; }
    inside(const inside&) = delete;
    inside& operator=(const inside&) = delete;

  private:
    friend class shared_tasks;
    const shared_tasks* of_;
    const inside* outer_;
    static inline thread_local const inside* innermost = nullptr;
  };

  void keep() noexcept {
    const locked alone(lock_);
    ++owners_;
  }
  void drop() noexcept {
    bool last = false;
    {
      const locked alone(lock_);
      last = --owners_ == 0;
    }
    if (last) delete this;
  }
  shared_tasks(const shared_tasks&) = delete;
  shared_tasks& operator=(const shared_tasks&) = delete;

private:
  class [[nodiscard]] locked {
  public:
    explicit locked(pthread_mutex_t& lock) noexcept : lock_(lock) { pthread_mutex_lock(&lock_); }
    ~locked() { pthread_mutex_unlock(&lock_); }
    locked(const locked&) = delete;
    locked& operator=(const locked&) = delete;

  private:
    pthread_mutex_t& lock_;
  };
  shared_tasks(void (*call)(void*, unsigned), void* function) noexcept : call_(call), function_(function) {}
  ~shared_tasks() {
    pthread_cond_destroy(&none_runs_);
    pthread_mutex_destroy(&lock_);
  }
  [[nodiscard]] bool is_inside() const noexcept {
    for (const inside* one = inside::innermost; one != nullptr; one = one->outer_)
      if (one->of_ == this) return true;
    return false;
  }
  /// The number of the task that begins, or 0.
  unsigned begin() noexcept {
    const locked alone(lock_);
    if (over_) return 0;
    ++running_;
    return ++begun_;
  }

  void (*call_)(void*, unsigned);
  void* function_; // in the frame of the call: not read after its end
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t none_runs_ = PTHREAD_COND_INITIALIZER;
  unsigned owners_ = 1;
  unsigned begun_ = 0;
  unsigned running_ = 0;
  bool over_ = false;
};

/// A function to be run by somebody else, at any time, or never.
class shared_task {
public:
  explicit shared_task(shared_tasks& of) noexcept : of_(&of) { of.keep(); }
  shared_task(const shared_task& other) noexcept : of_(other.of_) { of_->keep(); }
  shared_task& operator=(const shared_task& other) noexcept {
    shared_task copy(other);
    std::swap(of_, copy.of_);
    return *this;
  }
  ~shared_task() { of_->drop(); }
  void operator()() const noexcept { of_->run(); }

private:
  shared_tasks* of_;
};

/// Calls `f(0)`, and `f(number)` in each task that begins meanwhile. `hand_over(task)` is called for at most `count - 1` tasks. Returns when
/// no call runs any more. What `hand_over` throws passes, without `f(0)`. Without memory the caller does it alone.
template <class HandOver, class F> void in_tasks(unsigned count, const HandOver& hand_over, F f) {
  const auto run = [](void* function, unsigned number) { (*static_cast<F*>(function))(number); };
  shared_tasks* const all = count > 1 ? shared_tasks::make(run, &f) : nullptr;
  if (all == nullptr) return f(0U);
  fail::kept_exception error;
  const bool handed = error.run([&] {
    for (unsigned i = 1; i < count; ++i) hand_over(shared_task(*all));
  });
  if (handed) {
    const shared_tasks::inside here(*all);
    f(0U);
  }
  all->end();
  all->drop();
  error.rethrow();
}

} // namespace cubby::inline v0::detail
