// SPDX-License-Identifier: Apache-2.0
// Memory that fails on command, in the binary with hooks: every `operator new` and every allocation of index memory of
// the calling thread counts, and the chosen one is refused. Also counts the blocks of `operator new` that live.
#pragma once

#include <cstdint>

namespace cubby_test {

/// While it lives, the `number`th allocation of this thread (from 1) is refused.
class memory_failure {
public:
  explicit memory_failure(std::uint64_t number);
  ~memory_failure();
  memory_failure(const memory_failure&) = delete;
  memory_failure& operator=(const memory_failure&) = delete;
  /// Whether an allocation has been refused.
  [[nodiscard]] bool struck() const;
  /// How many allocations there were, unless one has been refused.
  [[nodiscard]] std::uint64_t granted() const;

private:
  std::uint64_t number_;
};

/// How much index memory there is, for every thread: all that is asked for, or two of three requests refused, or none.
enum class index_memory : std::uint8_t { plenty, scarce, none };
void set_index_memory(index_memory supply);

/// Blocks of `operator new` that have not been deleted, by any thread.
std::int64_t living_blocks();

} // namespace cubby_test
