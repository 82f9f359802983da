// SPDX-License-Identifier: Apache-2.0
// Histories in files, so that another checker can judge the very same. All numbers are little-endian:
//   8 bytes  "cubbyhis"
//   4 bytes  version: 1                 4 bytes  size of a record: 48
//   8 bytes  1: all keys are to be judged together; 0: each alone
//   8 bytes  number of records
//   48 bytes for each record: `record` of history.hpp as it lies in memory; a thread's records are in its order
#pragma once

#include <string>
#include <vector>

#include "linearizability/history.hpp"

namespace cubby_test {

struct recorded_history {
  std::vector<record> records;
  bool together = false;
};

/// False: the file cannot be written.
[[nodiscard]] bool write_history(const std::string& path, const recorded_history& history);
/// False: it cannot be read, or is no such file.
[[nodiscard]] bool read_history(const std::string& path, recorded_history& history);

} // namespace cubby_test
