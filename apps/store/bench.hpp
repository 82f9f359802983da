// SPDX-License-Identifier: Apache-2.0
// `cubby store bench`: what the medium of a file gives, measured with a table of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "table.hpp"

namespace store {

struct bench_request {
  std::string beside; // a file, there or not, or a folder
  std::size_t entries = 300'000;
  std::chrono::milliseconds sync_every{10};
  bool survives_power_cut = true;
  table_engine engine = table_engine::iceberg;
  std::string json;
};

// Throws refused. The temporary table is removed, also when a signal that can be caught ends the program.
void bench(const bench_request& request);

} // namespace store
