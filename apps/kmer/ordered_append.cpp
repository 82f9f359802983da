// SPDX-License-Identifier: Apache-2.0
// The thread whose turn it is appends its own blocks and all blocks that wait behind them.
#include "ordered_append.hpp"

namespace kmer {

bool ordered_append::wait_for_space(std::unique_lock<std::mutex>& hold, std::uint32_t partition) {
  moved_.wait(hold, [&] { return stopped_ || partition == turn_ || waiting_bytes_ < most_waiting_; });
  return !stopped_;
}

bool ordered_append::part(std::uint32_t partition, encoded_blocks&& blocks) {
  std::unique_lock hold(lock_);
  // Parts of one partition are not kept apart, so the rest of them waits for the turn.
  moved_.wait(hold, [&] { return stopped_ || partition == turn_; });
  if (stopped_) return false;
  to_.append(blocks);
  return true;
}

bool ordered_append::last_part(std::uint32_t partition, encoded_blocks&& blocks) {
  std::unique_lock hold(lock_);
  if (!wait_for_space(hold, partition)) return false;
  if (partition != turn_) {
    waiting_bytes_ += blocks.held_bytes();
    waiting_.emplace(partition, std::move(blocks));
    return true;
  }
  to_.append(blocks);
  ++turn_;
  for (auto first = waiting_.begin(); first != waiting_.end() && first->first == turn_; first = waiting_.begin()) {
    to_.append(first->second);
    waiting_bytes_ -= first->second.held_bytes();
    waiting_.erase(first);
    ++turn_;
  }
  moved_.notify_all();
  return true;
}

void ordered_append::stop() {
  const std::lock_guard hold(lock_);
  stopped_ = true;
  moved_.notify_all();
}

std::uint64_t ordered_append::distinct() const {
  const std::lock_guard hold(lock_);
  return to_.figures().distinct;
}

std::uint32_t ordered_append::turn() const {
  const std::lock_guard hold(lock_);
  return turn_;
}

} // namespace kmer
