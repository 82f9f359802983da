// SPDX-License-Identifier: Apache-2.0
// Runs a run_spec: makes the keys, fills the tables, measures round by round with the engines taking turns, and says
// what it is doing. When the tables do not fit into memory together they are filled one at a time in every round.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "keys.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "table.hpp"
#include "worker_threads.hpp"

namespace bench {

// Throws bad_request when keys cannot be had or do not fit; allocates nothing that counts.
void check_run(const run_spec& run);

class session {
public:
  explicit session(progress& shown) : shown_(shown) {}
  // Answers wrong in the course of a run throw std::runtime_error.
  std::vector<result> run(const run_spec& spec);

private:
  progress& shown_;
};

// The bytes that one table of this engine is expected to need, headroom included.
double expected_bytes(engine_id engine, std::size_t keys, std::size_t key_size, std::size_t value_size, bool grows);
// The bytes of the lines that `limit` scans over: those of the bins of a dlht table for as many keys.
std::size_t default_limit_bytes(std::size_t keys);

// The distinct non-empty lines of a file, the first `most` of them (0: all); throws bad_request.
std::vector<std::string> lines_of(const std::string& path, std::size_t most);

} // namespace bench
