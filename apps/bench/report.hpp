// SPDX-License-Identifier: Apache-2.0
// One HTML page that opens offline: every chapter with its plots (drawn by gnuplot as SVG inside the page), the
// command that measures it again, and its table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kmers.hpp"
#include "machine.hpp"
#include "result.hpp"

namespace bench {

// Throws bad_request when gnuplot is missing or the folder cannot be written.
void check_report(const std::string& folder);
void write_report(const std::string& folder, const machine_info& machine, const std::vector<chapter>& chapters,
                  const std::optional<exhibit>& last);

} // namespace bench
