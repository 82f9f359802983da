// SPDX-License-Identifier: Apache-2.0
// The flags as they were typed; empty where a flag was not given.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"

namespace store {

struct commands::flags {
  std::string file, key, value;
  bool has_value = false; // else it comes from standard input
  std::vector<std::string> inputs;
  std::string capacity, survives = "power-cut", engine = "iceberg";
  bool fixed = false;
  bool null = false;
  bool exact = false;
  bool quiet = false;
  std::string format, on_duplicate = "replace", sync_every;
  std::string output = "-", json, entries = "300k";
};

} // namespace store
