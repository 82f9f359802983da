// SPDX-License-Identifier: Apache-2.0
// Gives a task to the workers and waits for them.
#include "worker_threads.hpp"

#include <fmt/core.h>
#include <system_error>

#include "machine.hpp"
#include "options.hpp"

namespace bench {

worker_threads::worker_threads(std::size_t size) {
  threads_.reserve(size);
  try {
    for (std::size_t worker = 0; worker < size; ++worker) threads_.emplace_back([this, worker] { live(worker); });
  } catch (const std::system_error& e) {
    const std::size_t made = threads_.size();
    end();
    throw bad_request(
        fmt::format("--threads: the system made {} of {} threads ({}); ask for fewer", made, size, e.code().message()));
  }
}

worker_threads::~worker_threads() { end(); }

void worker_threads::end() {
  {
    const std::lock_guard<std::mutex> hold(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void worker_threads::live(std::size_t worker) {
  pin_to_cpu(worker);
  std::uint64_t seen = 0;
  std::unique_lock<std::mutex> hold(mutex_);
  while (true) {
    wake_.wait(hold, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    if (worker >= wanted_) continue;
    hold.unlock();
    std::exception_ptr failure;
    try {
      task_(worker);
    } catch (...) {
      failure = std::current_exception();
    }
    hold.lock();
    if (failure && !failure_) failure_ = failure;
    if (--running_ == 0) done_.notify_one();
  }
}

void worker_threads::run(std::size_t count, const std::function<void(std::size_t, const starter&)>& work) {
  std::barrier<> gate(static_cast<std::ptrdiff_t>(count));
  std::unique_lock<std::mutex> hold(mutex_);
  failure_ = nullptr;
  task_ = [&](std::size_t worker) {
    bool arrived = false;
    const starter start = [&] {
      arrived = true;
      gate.arrive_and_wait();
    };
    try {
      work(worker, start);
    } catch (...) {
      // A worker that fails before it is ready must not leave the others waiting at the gate.
      if (!arrived) gate.arrive_and_drop();
      throw;
    }
  };
  wanted_ = running_ = count;
  ++round_;
  wake_.notify_all();
  done_.wait(hold, [&] { return running_ == 0; });
  if (failure_) std::rethrow_exception(failure_);
}

} // namespace bench
