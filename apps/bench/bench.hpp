// SPDX-License-Identifier: Apache-2.0
// The subcommand `bench`: its flags, and the run from checks to results.
#pragma once

#include <CLI/CLI.hpp>

#include "options.hpp"

namespace bench {

// Adds the subcommand and its flags; they are parsed into `raw`.
CLI::App& add_command(CLI::App& program, raw_options& raw);
// Returns the exit status: 0, 1 when an engine answered wrong or output failed, 2 when the request was bad.
int run_command(const raw_options& raw);

} // namespace bench
