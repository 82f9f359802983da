// SPDX-License-Identifier: Apache-2.0
// One line on standard error that is written over: how far a count is. Silent when that is no terminal.
#pragma once

#include <chrono>
#include <cstdint>

namespace kmer {

class progress {
public:
  struct state {
    std::uint64_t bases;
    std::uint64_t kmers;
    std::uint64_t distinct;
    std::uint32_t partitions; // that are done
  };
  explicit progress(std::uint64_t memory);
  void show(const state& now);
  void finish();

private:
  bool terminal_;
  bool open_ = false;
  std::uint64_t memory_;
  std::chrono::steady_clock::time_point begin_;
};

} // namespace kmer
