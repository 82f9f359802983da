// SPDX-License-Identifier: Apache-2.0
// One line on standard error that is written over: how far a load is. Silent when that is no terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace store {

class progress {
public:
  progress();
  ~progress() { finish(); }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  // Bytes of the current input, of so many; 0: unknown. Written at most five times a second.
  void show(const std::string& input, std::uint64_t records, std::uint64_t bytes, std::uint64_t of);
  void finish();
  double seconds() const;

private:
  bool terminal_;
  bool open_ = false;
  std::chrono::steady_clock::time_point begin_;
  double last_ = 0;
};

} // namespace store
