// SPDX-License-Identifier: Apache-2.0
// Partitions are counted in any order and appended in their own. A thread that is ahead leaves its blocks here, unless too
// much waits. The thread whose turn it is never waits, so one thread always goes on.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>

#include "writer.hpp"

namespace kmer {

class ordered_append {
public:
  ordered_append(file_writer& to, std::size_t most_waiting) : to_(to), most_waiting_(most_waiting) {}

  // A partition may come in several parts, from one thread, in order. False: give up, a thread has failed.
  bool part(std::uint32_t partition, encoded_blocks&& blocks);
  bool last_part(std::uint32_t partition, encoded_blocks&& blocks);
  void stop();
  std::uint64_t distinct() const;
  std::uint32_t turn() const; // partitions that have been appended

private:
  bool wait_for_space(std::unique_lock<std::mutex>& hold, std::uint32_t partition);

  file_writer& to_;
  std::size_t most_waiting_;
  mutable std::mutex lock_;
  std::condition_variable moved_;
  std::map<std::uint32_t, encoded_blocks> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::uint32_t turn_ = 0;
  bool stopped_ = false;
};

} // namespace kmer
