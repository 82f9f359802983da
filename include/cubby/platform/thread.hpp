// SPDX-License-Identifier: Apache-2.0
// One background thread that sleeps until it is notified, and ends with its owner. Built on pthread alone, because
// <thread> would double the size of the front door.
#pragma once

#include <cubby/platform/sync.hpp>

#include <pthread.h>

namespace cubby::inline v0 {

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
    running_ = pthread_create(&thread_, nullptr, &background_worker::run, this) == 0;
    return running_;
  }
  void notify() noexcept {
    pthread_mutex_lock(&mutex_);
    wanted_ = true;
    pthread_cond_signal(&changed_);
    pthread_mutex_unlock(&mutex_);
  }
  /// Lets the current call of the work end, then the thread. Blocks until then.
  void stop() noexcept {
    if (!running_) return;
    pthread_mutex_lock(&mutex_);
    ending_ = true;
    pthread_cond_signal(&changed_);
    pthread_mutex_unlock(&mutex_);
    pthread_join(thread_, nullptr);
    running_ = false;
  }

private:
  static void* run(void* self) {
    static_cast<background_worker*>(self)->loop();
    return nullptr;
  }
  void loop() noexcept {
    pthread_mutex_lock(&mutex_);
    while (!ending_) {
      if (!wanted_) {
        pthread_cond_wait(&changed_, &mutex_);
        continue;
      }
      wanted_ = false;
      pthread_mutex_unlock(&mutex_);
      work_(argument_);
      pthread_mutex_lock(&mutex_);
    }
    pthread_mutex_unlock(&mutex_);
  }

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
  pthread_t thread_{};
  work_function work_ = nullptr;
  void* argument_ = nullptr;
  bool running_ = false;
  bool wanted_ = false;
  bool ending_ = false;
};

} // namespace cubby::inline v0
