// SPDX-License-Identifier: Apache-2.0
// The forms in which results leave the program: a table for people, JSON for programs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../kmer/output_file.hpp"
#include "machine.hpp"
#include "result.hpp"

namespace bench {

void print_machine(const machine_info& machine);
void print_results(const std::vector<result>& results);
// What marks in the table mean, then a line for each engine that takes no part in something or has no timeline; nothing where all do.
void print_absences(const chapter& c);
// Who is first, from all chapters.
void print_conclusion(const std::vector<chapter>& chapters);
// Where the files of durable tables were, and what those survive.
void print_files(const chapter& c);
std::string json_of(const machine_info& machine, std::uint64_t seed, const std::vector<chapter>& chapters);

// A file that appears whole or not at all, in place of what was there; throws bad_request when it cannot be written.
std::unique_ptr<kmer::output_file> open_output(const std::string& flag, const std::string& path);

// One point of a result in words: what differs among the results of a run is worth a column.
std::string point_of(const result& r, const std::vector<result>& among);

} // namespace bench
