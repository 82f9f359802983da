// SPDX-License-Identifier: Apache-2.0
// The summary of a count: two lines for people, JSON for programs.
#pragma once

#include "count.hpp"
#include "output_file.hpp"

namespace kmer {

void print_summary(const count_options& options, const count_figures& figures);
void write_summary(output_file& to, const count_options& options, const count_figures& figures);

} // namespace kmer
