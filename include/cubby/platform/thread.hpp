// SPDX-License-Identifier: Apache-2.0
// One background thread that sleeps until it is notified, and ends with its owner. Built on pthread alone, because
// <thread> would double the size of the front door. Builds with CUBBY_SYNC_HOOKS see each turn of its lock as one step,
// and may run the worker somewhere else than in a thread of the system.
#pragma once

#include <cubby/platform/sync.hpp>

#include <pthread.h>
#include <time.h>

namespace cubby::inline v0 {

#if CUBBY_SYNC_HOOKS
/// Who runs workers instead of the system, so that a scheduler chooses when.
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

/// Lets others run for at least so long, unless a signal comes. Below a second.
inline void nap(unsigned microseconds) noexcept {
#if CUBBY_SYNC_HOOKS
  if (installed_worker_host() != nullptr) return; // whose scheduler hears of the pause before it
#endif
  const timespec span{0, static_cast<long>(microseconds) * 1000};
  (void)nanosleep(&span, nullptr);
}

/// A thread that calls `work(argument)` once after each `notify` (several notifications may share a call).
class background_worker {
public:
  using work_function = void (*)(void* argument);

  background_worker() = default;
  background_worker(const background_worker&) = delete;
  background_worker& operator=(const background_worker&) = delete;
  ~background_worker() { stop(); }

  /// False when the system gives no thread.
  bool start(work_function work, void* argument) noexcept {
    work_ = work;
    argument_ = argument;
    running_ = start_thread();
    return running_;
  }
  void notify() noexcept {
    lock();
    wanted_ = true;
    pthread_cond_signal(&changed_);
    pthread_mutex_unlock(&mutex_);
  }
  /// Lets the current call of the work end, then the thread. Blocks until then.
  void stop() noexcept {
    if (!running_) return;
    lock();
    ending_ = true;
    pthread_cond_signal(&changed_);
    pthread_mutex_unlock(&mutex_);
    join_thread();
    running_ = false;
  }

private:
  static void* run(void* self) {
    static_cast<background_worker*>(self)->loop();
    return nullptr;
  }
  void loop() noexcept {
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

  // What is done under the lock is one step to a hook: it has no hook inside.
  void lock() noexcept {
    sync::hook(sync::step::rmw8, &wanted_);
    pthread_mutex_lock(&mutex_);
  }
#if CUBBY_SYNC_HOOKS
  bool start_thread() noexcept {
    if (const worker_host* const host = installed_worker_host()) return host->start(&background_worker::run, this);
    return pthread_create(&thread_, nullptr, &background_worker::run, this) == 0;
  }
  void sleep() noexcept {
    const worker_host* const host = installed_worker_host();
    if (host == nullptr) {
      pthread_cond_wait(&changed_, &mutex_);
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
  bool start_thread() noexcept { return pthread_create(&thread_, nullptr, &background_worker::run, this) == 0; }
  void sleep() noexcept { pthread_cond_wait(&changed_, &mutex_); }
  void join_thread() noexcept { pthread_join(thread_, nullptr); }
#endif

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
  pthread_t thread_{};
  work_function work_ = nullptr;
  void* argument_ = nullptr;
  bool running_ = false;
  bool wanted_ = false; // in one word with the next: hooks are told of this one's address
  bool ending_ = false;
};

} // namespace cubby::inline v0
