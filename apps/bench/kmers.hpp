// SPDX-License-Identifier: Apache-2.0
// The k-mers of real reads in the default run: counted by `cubby kmer`, their histogram as a plot.
#pragma once

#include <optional>
#include <string>

#include "plot.hpp"

namespace bench {

// A part of the report that is no combination of engines and workloads.
struct exhibit {
  std::string title, says, command;
  plot drawn;
};

// Counts and prints; nothing when the package with the reads is not installed.
std::optional<exhibit> count_real_reads();

} // namespace bench
