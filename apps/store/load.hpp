// SPDX-License-Identifier: Apache-2.0
// `cubby store load`: records of files into a table, and on where an earlier run was killed.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "records.hpp"

namespace store {

enum class duplicate_policy { replace, keep, fail };

struct load_request {
  std::string table;
  std::vector<std::string> inputs; // "-" is standard input
  std::optional<record_format> format;
  duplicate_policy on_duplicate = duplicate_policy::replace;
  std::chrono::milliseconds sync_every{2000};
  bool quiet = false;
};

// Throws refused.
void load(const load_request& request);

} // namespace store
