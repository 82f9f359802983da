// SPDX-License-Identifier: Apache-2.0
// BAM and CRAM through htslib. Each read counts once, as it came from the machine: secondary and supplementary lines are
// left out, and a read that was aligned to the other strand is turned back. A file without the end-of-file mark of its format is
// refused, at its end at the latest.
#pragma once

#include <memory>
#include <string>

#include "input.hpp"
#include "parse.hpp"

namespace kmer {

// Whether --reference names something that htslib gets from another machine.
bool is_fetched(const std::string& reference);

// `reference`: a FASTA file for CRAM that does not hold its own; may be empty.
std::unique_ptr<batch_source> open_alignment(const std::string& path, opened_input input, const std::string& reference);

} // namespace kmer
