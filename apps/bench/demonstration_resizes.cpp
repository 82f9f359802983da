// SPDX-License-Identifier: Apache-2.0
// The chapter of the default run about lookups while a table grows and shrinks.
#include "demonstration.hpp"

namespace bench {

chapter resizes_both_ways(std::uint64_t seed) {
  run_spec run;
  run.engines = {engine_id::relativistic, engine_id::dlht, engine_id::ddds, engine_id::rwlock};
  run.workloads = workloads_named("grow-shrink");
  // Small enough that the slowest of them comes round in the time of a round.
  run.keys = {300'000};
  run.threads = {2};
  run.batch = {1};
  run.value_sizes = {8};
  run.key_sizes = {8};
  run.seconds = 0.7;
  run.rounds = 1;
  run.seed = seed;
  return {
      "Finds while the table grows and shrinks",
      "One thread inserts keys and erases them again, over and over, while another one finds keys that stay. ddds and "
      "rwlock are what the paper on relativistic hash tables compares with: a table that looks into the old and "
      "the new one while it is resized, and a reader-writer lock (its figures 3 to 7, over time).",
      run,
      {}};
}

} // namespace bench
