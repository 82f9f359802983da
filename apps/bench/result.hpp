// SPDX-License-Identifier: Apache-2.0
// The results of a run: one result for each engine, workload and combination of sizes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "options.hpp"
#include "table.hpp"

namespace bench {

struct latency_figures {
  double p50 = 0, p99 = 0, p999 = 0, p9999 = 0, longest = 0; // nanoseconds
};

struct result {
  engine_id engine = engine_id::dlht;
  workload what;
  std::size_t keys = 0, threads = 0, batch = 0, key_size = 0, value_size = 0; // 0: has none, as a read section
  std::size_t finders = 0, updaters = 0;                                      // of workloads that update beside finds
  bool text = false;
  std::string key_kind; // of made-up texts
  std::string domain;   // what a table in a file says that it survives; empty where there is no file
  std::string folder;   // of that file
  std::vector<double> rounds_mops;
  double median_mops = 0;
  double spread = 0; // (largest - smallest round) / median
  std::optional<double> times_limit, times_best_rival;
  std::optional<double> bytes_per_key;      // growth of the process's resident memory, over the keys in the table
  double own_bytes_per_key = 0;             // what the engine says, 0 when it does not
  std::optional<double> huge_pages_percent; // none where there is no table
  std::optional<latency_figures> latency;
  std::vector<sample> timeline;
  std::vector<window_rates> rounds_windows; // of `populate`
  std::optional<window_rates> windows;      // their medians; none where no round had a whole window
  std::vector<window_rates> course;         // of the last round, in at most a hundred stretches
};

// All windows together, and in at most so many stretches of equally many.
std::optional<window_rates> together(const std::vector<double>& windows);
std::vector<window_rates> in_stretches(const std::vector<double>& windows, std::size_t most);

// One run and what came of it: a chapter of the report.
struct chapter {
  std::string title;
  std::string says; // what the plot or table shows
  run_spec run;
  std::vector<result> results;
};

// Whether two results are of the same workload at the same sizes, of any engine.
bool same_point(const result& a, const result& b);

// Two points are the least that make a line.
inline bool has_timeline(const result& r) { return r.timeline.size() > 1; }

// A size that a run may vary.
using size_field = std::size_t result::*;
bool differs(const std::vector<result>& among, size_field size);
// The sizes that differ among the results, as `r` has them: " keys=10M batch=8". Without the one named last.
std::string sizes_of(const result& r, const std::vector<result>& among, size_field left_out = nullptr);

double median_of(std::vector<double> values);
// Fills in median and spread, then the ratios among results of the same combination.
void finish(std::vector<result>& results);

} // namespace bench
