// SPDX-License-Identifier: Apache-2.0
// A thread that wants a batch reads first if few batches are ready and no other thread reads.
#include "feed.hpp"

namespace kmer {

void feed::read_one(std::unique_lock<std::mutex>& hold) {
  reading_ = true;
  batch made;
  if (!spare_.empty()) {
    made = std::move(spare_.back());
    spare_.pop_back();
  }
  hold.unlock();
  bool more = false;
  std::exception_ptr why;
  try {
    more = source_.next(made);
  } catch (...) {
    why = std::current_exception();
  }
  hold.lock();
  reading_ = false;
  if (why && !why_) why_ = why;
  ended_ = !more;
  if (more) ready_.push_back(std::move(made));
  figures_ = source_.figures();
  changed_.notify_all();
}

bool feed::next(batch& mine) {
  std::unique_lock hold(lock_);
  if (mine.letters.capacity() != 0) spare_.push_back(std::move(mine));
  while (!why_) {
    if (!reading_ && !ended_ && ready_.size() < wanted_) {
      read_one(hold);
    } else if (!ready_.empty()) {
      mine = std::move(ready_.front());
      ready_.pop_front();
      return true;
    } else if (ended_) {
      return false;
    } else {
      changed_.wait(hold);
    }
  }
  return false;
}

void feed::fail(std::exception_ptr why) {
  const std::lock_guard hold(lock_);
  if (!why_) why_ = std::move(why);
  changed_.notify_all();
}

bool feed::failed() const {
  const std::lock_guard hold(lock_);
  return why_ != nullptr;
}

void feed::rethrow() const {
  const std::lock_guard hold(lock_);
  if (why_) std::rethrow_exception(why_);
}

input_figures feed::figures() const {
  const std::lock_guard hold(lock_);
  return figures_;
}

} // namespace kmer
