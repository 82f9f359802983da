// SPDX-License-Identifier: Apache-2.0
// Batches from the inputs to the threads that work on them. Reading (decompression and parsing) is a job that one thread
// at a time has, and it goes on while the others count; with one thread alone the two take turns.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <vector>

#include "parse.hpp"

namespace kmer {

class feed {
public:
  feed(batch_sources& source, std::size_t threads) : source_(source), wanted_(2 * threads) {}

  // The next batch for this thread; false when there is none any more or a thread has failed.
  bool next(batch& mine);
  // Ends the work of all threads; the first reason is kept.
  void fail(std::exception_ptr why);
  bool failed() const;
  void rethrow() const;
  // What has been read so far.
  input_figures figures() const;

private:
  void read_one(std::unique_lock<std::mutex>& hold);

  batch_sources& source_;
  std::size_t wanted_;
  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::deque<batch> ready_;
  std::vector<batch> spare_;
  bool reading_ = false;
  bool ended_ = false;
  std::exception_ptr why_;
  input_figures figures_;
};

} // namespace kmer
