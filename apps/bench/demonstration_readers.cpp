// SPDX-License-Identifier: Apache-2.0
// The chapters of the default run about readers: while a table grows and shrinks, and without any table.
#include <algorithm>

#include "demonstration.hpp"
#include "machine.hpp"

namespace bench {

chapter resizes_both_ways(std::uint64_t seed) {
  run_spec run =
      run_of(seed, {engine_id::relativistic, engine_id::dlht, engine_id::ddds, engine_id::rwlock}, {"grow-shrink"});
  // Small enough that the slowest table grows and shrinks once within a round.
  run.keys = {300'000};
  run.threads = {2};
  run.batch = {1};
  run.seconds = 0.7;
  return {
      "Finds while the table grows and shrinks",
      "One thread inserts keys and erases them again, over and over, while another one finds keys that stay. ddds and "
      "rwlock are what the paper on relativistic hash tables compares with: a table that looks into the old and "
      "the new one while it is resized, and a reader-writer lock.",
      run,
      {}};
}

chapter finds_by_readers(std::uint64_t seed) {
  run_spec run = run_of(seed, {engine_id::relativistic, engine_id::ddds, engine_id::rwlock}, {"get", "grow-shrink"});
  run.keys = {65'536}; // as many as the paper has
  run.threads.clear();
  for (std::size_t n = 1; n <= std::max<std::size_t>(4, describe_machine().cores); n *= 2) run.threads.push_back(n);
  run.updaters = 1;
  run.batch = {1};
  run.rounds = 3;
  return {
      "Finds by the number of readers",
      "Finds in a table at rest (get), and beside one thread that inserts keys and erases them again without pause, so "
      "that the table grows and shrinks (grow-shrink), by the number of threads that find: figures 3 to 7 of the paper "
      "on relativistic hash tables. Beside the writer only keys that stay are asked for, a thirty-second of all, which "
      "the caches hold better. Where readers and writer outnumber the cores, they share them, and the more readers "
      "there are the fewer turns the writer has to resize the table.",
      run,
      {}};
}

chapter read_sections() {
  run_spec run;
  run.engines = {engine_id::rcu,     engine_id::rcu_record, engine_id::urcu_memb,
                 engine_id::urcu_bp, engine_id::urcu_qsbr,  engine_id::limit};
  run.workloads = workloads_named("read-section");
  for (std::size_t n = 1; n <= describe_machine().cores; n *= 2) run.threads.push_back(n);
  run.seconds = 0.05;
  run.rounds = 3;
  return {"Read sections",
          "What it costs to enter and leave a read section around a single load: of the library, through the thread's "
          "own thread record (rcu) and through a record that it has claimed (rcu-record), and of liburcu's flavours. "
          "urcu-qsbr has no sections; it reports a quiescent state after each load. limit is the load alone.",
          run,
          {}};
}

} // namespace bench
