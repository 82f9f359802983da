// SPDX-License-Identifier: Apache-2.0
// What the user asks for. Every size may be a list: a run measures each combination, and the report plots along each
// list that has more than one entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "workload.hpp"

namespace bench {

struct run_spec {
  std::vector<engine_id> engines;
  std::vector<workload> workloads;
  std::vector<std::size_t> keys;
  std::vector<std::size_t> threads;
  std::size_t updaters = 0; // threads that update beside `threads` that find; 0: half of `threads` update
  std::vector<std::size_t> batch;
  std::vector<std::size_t> value_sizes;
  std::vector<std::size_t> key_sizes;
  double seconds = 1;
  std::size_t rounds = 3;
  std::size_t space = 100; // percent of the keys that a table is made for
  bool latency = false;
  std::uint64_t seed = 1;
  std::string keys_from;
  std::string key_kind; // of made_texts.hpp; empty: numbers, or lines of `keys_from`
  std::string dir;      // for the files of durable tables; empty: folder_of chooses
};

// Whether the keys are texts.
inline bool is_text(const run_spec& run) { return !run.keys_from.empty() || !run.key_kind.empty(); }

struct bench_options {
  run_spec run;
  bool default_run = false; // nothing of a run_spec was given: the chapters of the demonstration
  bool full = false;        // of them, those with the sweeps too
  std::string json;
  std::string report;
};

// A request that cannot be run. The text is one line: what is wrong, where, and what to do.
struct bad_request : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The flags as they were typed; empty where a flag was not given.
struct raw_options {
  std::string engine, workload, keys, threads, batch, value_size, key_size, seconds, rounds, space, seed, updaters;
  bool latency = false;
  bool full = false;
  std::string keys_from, key_kind, dir, json, report;
};

// Checks names, numbers and paths, and fills in defaults; throws bad_request.
bench_options parse(const raw_options& raw);

// The part of a run that is about tables; without workloads if there is none.
run_spec tables_of(const run_spec& run);

// How many threads a workload keeps busy, and where some of them update while the others find, how many of each.
struct thread_counts {
  std::size_t all = 0;
  std::size_t finders = 0;
  std::size_t updaters = 0;
};
thread_counts threads_of(const run_spec& run, const workload& w, std::size_t threads);

// The command line that measures `run` again.
std::string command_of(const run_spec& run);

} // namespace bench
