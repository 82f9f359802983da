// SPDX-License-Identifier: Apache-2.0
// The flags as they were typed; empty where a flag was not given.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"

namespace kmer {

struct commands::flags {
  std::vector<std::string> files;
  std::vector<std::string> sequence_files;
  std::string output, k = "21", threads, memory, min_count = "1", max_count, count_limit;
  std::string spill_to, reference, engine, json, counts;
  bool no_canonical = false;
  bool quiet = false;
};

} // namespace kmer
