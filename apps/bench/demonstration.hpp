// SPDX-License-Identifier: Apache-2.0
// The default run: chapters that together take at most two minutes on two cores, and more with all sweeps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "result.hpp"

namespace bench {

// `full` adds the chapters with sweeps, readers, features, latencies and YCSB.
std::vector<chapter> demonstration(std::uint64_t seed, bool full);

// What its chapters have in common: every core, batches of 32, rounds just long enough.
run_spec run_of(std::uint64_t seed, std::vector<engine_id> engines, const std::vector<std::string>& names);

// Chapters of it.
chapter resizes_both_ways(std::uint64_t seed);
chapter finds_by_readers(std::uint64_t seed);
chapter read_sections();

} // namespace bench
