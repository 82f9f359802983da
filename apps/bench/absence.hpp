// SPDX-License-Identifier: Apache-2.0
// Which engine has no figure for which workload, or no timeline, and why: printed beside the figures, and a reason to refuse a
// run that would come to none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "result.hpp"

namespace bench {

// Why an engine has no figure for a workload or, with `latency`, no times of its single operations; empty when it has.
std::string_view why_absent(engine_id e, const workload& w, bool latency);

// Throws bad_request when a workload, or the latency that was asked for, would have no figure at all.
void check_figures(const run_spec& run);

// One line for each engine and reason, where others have the figure; one for timelines that came to no line.
std::vector<std::string> absences(const chapter& c);

} // namespace bench
