// SPDX-License-Identifier: Apache-2.0
// The default run: chapters that together take at most two minutes on two cores.
#pragma once

#include <cstdint>
#include <vector>

#include "result.hpp"

namespace bench {

// `with_plots` adds the sweeps that only a report shows.
std::vector<chapter> demonstration(std::uint64_t seed, bool with_plots);

// Chapters of it.
chapter resizes_both_ways(std::uint64_t seed);
chapter finds_by_readers(std::uint64_t seed);
chapter read_sections();

} // namespace bench
