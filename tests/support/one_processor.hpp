// SPDX-License-Identifier: Apache-2.0
// Threads of which one runs at a time: on one processor the system hands a turn over at once. On two, each turn wakes a processor
// that has gone to sleep, which took 45 times as long in tests of 300 ms.
#pragma once

#include <cstdlib>

#include <sched.h>
#include <unistd.h>

namespace cubby_test {

/// Keeps its thread on one processor until it ends, and the threads that this starts meanwhile until those end. Shards of one program take
/// different processors. Where the system refuses, the threads stay where they are, and are slower. Made and ended by one thread.
class one_processor {
public:
  one_processor() {
    if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    const char* const shard = std::getenv("GTEST_SHARD_INDEX");
    long left = (shard != nullptr ? std::strtol(shard, nullptr, 10) : getpid()) % CPU_COUNT(&before_);
    int mine = 0;
    while (!CPU_ISSET(mine, &before_) || left-- > 0) ++mine;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(mine, &only);
    moved_ = sched_setaffinity(0, sizeof only, &only) == 0;
  }
  ~one_processor() {
    if (moved_) (void)sched_setaffinity(0, sizeof before_, &before_);
  }
  one_processor(const one_processor&) = delete;
  one_processor& operator=(const one_processor&) = delete;

private:
  cpu_set_t before_{};
  bool moved_ = false;
};

} // namespace cubby_test
