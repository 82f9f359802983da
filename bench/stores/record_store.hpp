// SPDX-License-Identifier: Apache-2.0
// Stores of records of 16 bytes and 16, for bench_ycsb: durable_map with either engine.
#pragma once

#include "store.hpp"

namespace bench::stores {

/// What a change survives, and when (docs/durability.md).
enum class surviving : std::uint8_t {
  process, // the end of the process, at once
  line,    // a power cut, when the call has returned
  page     // the end of the process at once, a power cut after a sync
};

std::vector<kind> record_kinds(surviving what);

} // namespace bench::stores
