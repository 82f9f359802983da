// SPDX-License-Identifier: Apache-2.0
// Stop-the-world growth for the tables that are re-stated here from their papers. A thread that works shows it in a word of its
// own. The thread that grows the table raises a flag, makes every thread pass a fence, and waits until no thread works. Threads that
// come meanwhile help to move the entries. The price for each call is two plain stores and a load.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <vector>

#include <cubby/map.hpp>

namespace bench {

class pause_point {
public:
  // One for each thread at a table. The pause point has to outlive it.
  class alignas(64) worker {
  public:
    explicit worker(pause_point& p) : point_(p) {
      const std::lock_guard hold(p.mutex_);
      p.workers_.push_back(this);
    }
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;
    ~worker() {
      const std::lock_guard hold(point_.mutex_);
      std::erase(point_.workers_, this);
    }
    void enter() {
      for (;;) {
        // The barrier in `alone` orders this store with the load below; without one it is fenced here.
        if (point_.has_barrier_) [[likely]] {
          busy_.store(1, std::memory_order_relaxed);
          std::atomic_signal_fence(std::memory_order_seq_cst);
        } else {
          busy_.exchange(1);
        }
        if (!point_.stopped_.load()) [[likely]]
          return;
        leave();
        for (cubby::detail::sync::backoff wait; point_.stopped_.load(std::memory_order_acquire); wait.pause())
          point_.help();
      }
    }
    void leave() { busy_.store(0, std::memory_order_release); }

  private:
    friend class pause_point;
    pause_point& point_;
    std::atomic<std::uint32_t> busy_{0};
  };

  // One call of a worker.
  class stay {
  public:
    explicit stay(worker& w) : at_(w) { at_.enter(); }
    ~stay() { at_.leave(); }
    stay(const stay&) = delete;
    stay& operator=(const stay&) = delete;

  private:
    worker& at_;
  };

  // While no thread works: `prepare()` returns the number of shares, or 0 for nothing to do. Each `share(i)` is carried out once, by
  // the caller and by the threads that wait; then `finish()`. The caller is not inside.
  template <class Prepare, class Share, class Finish> void alone(Prepare prepare, Share share, Finish finish) {
    const std::lock_guard hold(mutex_);
    stopped_.store(true); // sequentially consistent, for those that fence
    if (has_barrier_ && !cubby::detail::barrier::all_threads())
      throw std::runtime_error("the kernel refuses membarrier, which it had when this table was made");
    for (const worker* w : workers_)
      for (cubby::detail::sync::backoff wait; w->busy_.load(std::memory_order_acquire) != 0;) wait.pause();
    shares_ = prepare();
    if (shares_ != 0) {
      carry_out_ = [](void* context, std::uint64_t i) { (*static_cast<Share*>(context))(i); };
      context_ = &share;
      next_.store(0, std::memory_order_relaxed); // `open_` shows it
      open_.store(true);
      help();
      open_.store(false);
      for (cubby::detail::sync::backoff wait; helpers_.load() != 0;) wait.pause();
      finish();
    }
    stopped_.store(false, std::memory_order_release);
  }

private:
  // All of these are sequentially consistent: a helper that counts itself too late to be waited for sees `open_` closed.
  void help() {
    ++helpers_;
    if (open_.load())
      for (std::uint64_t i = next_++; i < shares_; i = next_++) carry_out_(context_, i);
    --helpers_;
  }

  const bool has_barrier_ = cubby::detail::barrier::is_asymmetric();
  alignas(64) std::atomic<bool> stopped_{false};
  std::uint64_t shares_ = 0;
  void (*carry_out_)(void*, std::uint64_t) = nullptr;
  void* context_ = nullptr;
  std::atomic<bool> open_{false};
  std::atomic<std::uint32_t> helpers_{0};
  alignas(64) std::atomic<std::uint64_t> next_{0};
  std::mutex mutex_;
  std::vector<worker*> workers_;
};

} // namespace bench
