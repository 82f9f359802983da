// SPDX-License-Identifier: Apache-2.0
// The worker threads of a run: started once, each bound to one CPU, so that every engine is measured by the same
// threads with the same warm stacks and allocator lists.
#pragma once

#include <barrier>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bench {

class worker_threads {
public:
  explicit worker_threads(std::size_t size);
  worker_threads(const worker_threads&) = delete;
  worker_threads& operator=(const worker_threads&) = delete;
  ~worker_threads();

  std::size_t size() const noexcept { return threads_.size(); }

  // Runs `work(worker, start)` on the first `count` workers and waits for all; each calls start() when it is ready,
  // and goes on when all are. The first exception that leaves a worker is thrown again here.
  using starter = std::function<void()>;
  void run(std::size_t count, const std::function<void(std::size_t, const starter&)>& work);

private:
  void live(std::size_t worker);
  void end();

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::function<void(std::size_t)> task_;
  std::size_t wanted_ = 0;
  std::size_t running_ = 0;
  std::uint64_t round_ = 0;
  std::exception_ptr failure_;
  bool stop_ = false;
};

} // namespace bench
