// SPDX-License-Identifier: Apache-2.0
// A background thread that sleeps until it is notified, and ends with its owner. The image whose code it runs stays loaded until
// then. The child of a fork has no such thread. It uses pthread, because <thread> would double the size of the public headers. In
// builds with CUBBY_SYNC_HOOKS each hold of its lock is one step, and a test may run the worker outside a thread of the system.
#pragma once

#include <cubby/detail/platform/image.hpp>
#include <cubby/detail/platform/sync.hpp>

#include <pthread.h>
#include <time.h>

namespace cubby::inline v0::detail {

#if CUBBY_SYNC_HOOKS
/// Runs workers instead of the system, so that a scheduler of a test chooses when.
struct worker_host {
  bool (*start)(void* (*run)(void*), void* worker); ///< false: no thread
  void (*sleep)(const void* notices);               ///< in the worker: until the word there has changed, or earlier
  void (*join)(void* worker);                       ///< until `run` has returned
};
inline const worker_host*& installed_worker_host() noexcept {
  static const worker_host* host = nullptr;
  return host;
}
/// Call it while there is no worker.
inline void install_worker_host(const worker_host* host) noexcept { installed_worker_host() = host; }
#endif

/// Sleeps for at least so long, unless a signal comes. Less than a second.
inline void sleep_briefly(unsigned microseconds) noexcept {
#if CUBBY_SYNC_HOOKS
  if (installed_worker_host() != nullptr) return; // the scheduler has seen the pause before it
#endif
  const timespec span{0, static_cast<long>(microseconds) * 1000};
  (void)nanosleep(&span, nullptr);
}

/// A thread that calls `work(argument)` after each `notify`. Several notifications may share one call.
class background_worker {
public:
  using work_function = void (*)(void* argument);

  background_worker() = default;
  background_worker(const background_worker&) = delete;
  background_worker& operator=(const background_worker&) = delete;
  ~background_worker() { stop(); }

  /// Starts the thread, and returns when it holds its image. False: the system gives no thread, or the image cannot be held. It may start
  /// again after a stop, and in the child of a fork, which has lost the thread. `forks` counts the forks of the process, and must outlive the worker.
  CUBBY_OF_IMAGE bool start(work_function work, void* argument, const image::fork_count& forks) noexcept {
    if (running_) forget_lost_thread();
    stage_ = stage::starting;
    ending_ = false;
    wanted_ = false;
    work_ = work;
    argument_ = argument;
    forks_ = &forks;
    forks_at_start_ = forks.get();
    running_ = start_thread();
    return running_;
  }
  /// Before `start`: also calls the work when so many nanoseconds have passed without a call. 0: never.
  void repeat_after(std::uint64_t nanoseconds) noexcept {
    interval_ = nanoseconds;
    if (interval_ == 0) return;
    pthread_condattr_t how; // the clock of the day may be set back, and the next call would be late
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(&changed_, &how);
    pthread_condattr_destroy(&how);
  }
  /// Whether the thread exists; false in the child of a fork.
  [[nodiscard]] bool is_here() const noexcept { return running_ && forks_->get() == forks_at_start_; }
  /// Wakes the thread. False: there is no thread.
  bool notify() noexcept {
    if (!is_here()) return false;
    lock();
    wanted_ = true;
    pthread_cond_signal(&changed_);
    pthread_mutex_unlock(&mutex_);
    return true;
  }
  /// Ends the thread after its current call of the work. Blocks until then.
  void stop() noexcept {
    if (!is_here()) return;
    lock();
    ending_ = true;
    pthread_cond_signal(&changed_);
    pthread_mutex_unlock(&mutex_);
    join_thread();
    running_ = false;
  }

private:
  enum class stage : std::uint8_t { starting, holds_image, failed };

  // These and `start` are hidden, so that the thread begins in the image that `hold_image` keeps.
  CUBBY_OF_IMAGE static void* run(void* self) {
    auto& mine = *static_cast<background_worker*>(self);
    if (mine.stage_ == stage::holds_image || mine.hold_image()) mine.loop();
    return nullptr;
  }
  /// The lost thread may have held the lock, and waited for the conditions.
  void forget_lost_thread() noexcept {
    pthread_mutex_init(&mutex_, nullptr);
    pthread_cond_init(&changed_, nullptr);
    pthread_cond_init(&started_, nullptr);
    running_ = false;
  }
  /// Keeps the image loaded. Until this call only the starter does so, which waits for it.
  CUBBY_OF_IMAGE bool hold_image() noexcept {
    const bool holds = image::at_thread_end([](void*) {}, nullptr);
    pthread_mutex_lock(&mutex_);
    stage_ = holds ? stage::holds_image : stage::failed;
    pthread_cond_signal(&started_);
    pthread_mutex_unlock(&mutex_);
    return holds;
  }
  CUBBY_OF_IMAGE bool start_in_system() noexcept {
    if (pthread_create(&thread_, nullptr, &background_worker::run, this) != 0) return false;
    pthread_mutex_lock(&mutex_);
    while (stage_ == stage::starting) pthread_cond_wait(&started_, &mutex_);
    pthread_mutex_unlock(&mutex_);
    if (stage_ == stage::failed) pthread_join(thread_, nullptr);
    return stage_ == stage::holds_image;
  }
  CUBBY_OF_IMAGE void loop() noexcept {
    lock();
    while (!ending_) {
      if (!wanted_) {
        sleep();
        continue;
      }
      wanted_ = false;
      pthread_mutex_unlock(&mutex_);
      work_(argument_);
      lock();
    }
    pthread_mutex_unlock(&mutex_);
  }

  /// Until a notification, or for the interval. Under the lock.
  void wait() noexcept {
    if (interval_ == 0) {
      pthread_cond_wait(&changed_, &mutex_);
      return;
    }
    timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const std::uint64_t end = static_cast<std::uint64_t>(until.tv_nsec) + interval_;
    until.tv_sec += static_cast<time_t>(end / 1000000000);
    until.tv_nsec = static_cast<long>(end % 1000000000);
    if (pthread_cond_timedwait(&changed_, &mutex_, &until) != 0) wanted_ = true;
  }

  // The code under the lock has no hook inside, so it is one step.
  void lock() noexcept {
    sync::hook(sync::step::rmw8, &wanted_);
    pthread_mutex_lock(&mutex_);
  }
#if CUBBY_SYNC_HOOKS
  CUBBY_OF_IMAGE bool start_thread() noexcept {
    if (const worker_host* const host = installed_worker_host()) {
      stage_ = stage::holds_image;
      return host->start(&background_worker::run, this);
    }
    return start_in_system();
  }
  void sleep() noexcept {
    const worker_host* const host = installed_worker_host();
    if (host == nullptr) {
      wait();
      return;
    }
    pthread_mutex_unlock(&mutex_);
    host->sleep(&wanted_);
    lock();
  }
  void join_thread() noexcept {
    if (const worker_host* const host = installed_worker_host()) host->join(this);
    else pthread_join(thread_, nullptr);
  }
#else
  CUBBY_OF_IMAGE bool start_thread() noexcept { return start_in_system(); }
  void sleep() noexcept { wait(); }
  void join_thread() noexcept { pthread_join(thread_, nullptr); }
#endif

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
  pthread_cond_t started_ = PTHREAD_COND_INITIALIZER;
  pthread_t thread_{};
  const image::fork_count* forks_ = nullptr;
  std::uint64_t forks_at_start_ = 0;
  work_function work_ = nullptr;
  void* argument_ = nullptr;
  std::uint64_t interval_ = 0;
  stage stage_ = stage::starting;
  bool running_ = false;
  bool wanted_ = false; // in one word with the next one; hooks get this address
  bool ending_ = false;
};

} // namespace cubby::inline v0::detail
