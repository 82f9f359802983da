// SPDX-License-Identifier: Apache-2.0
// `cubby kmer count`: sequences in, a k-mer file out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "counter.hpp"
#include "shape.hpp"
#include "writer.hpp"

namespace kmer {

struct count_options {
  std::vector<std::string> inputs;
  std::string output;
  shape of;
  count_bounds bounds;
  std::size_t threads = 1;
  std::uint64_t memory = 0;
  std::string memory_shown = "--memory"; // how messages name it
  std::string spill_folder;
  std::string reference;
  engine_id engine = default_engine;
};

// How the memory is divided; the arrays of a small k need no division.
struct memory_plan {
  std::size_t pool_bytes = 0;         // super-k-mers that wait
  std::size_t entries_per_thread = 0; // k-mers in one thread's table
};
// Throws bad_input when it is too little for so many threads.
memory_plan plan_memory(const count_options& options);

struct count_figures {
  std::uint64_t records = 0;
  std::uint64_t bases = 0;
  std::uint64_t kmers = 0;
  file_figures file;
  std::uint64_t file_bytes = 0;
  double seconds = 0;           // all of it
  double reading_seconds = 0;   // until the inputs had been read and divided
  std::uint64_t pool_bytes = 0; // of super-k-mers in memory, at most
  std::uint64_t spilled_bytes = 0;
  std::uint64_t peak_bytes = 0;      // resident, of the whole process
  double huge_percent = 0;           // of what was resident when the inputs had been read
  std::vector<std::string> warnings; // of inputs that may be cut short
};

count_figures count(const count_options& options);

} // namespace kmer
