// SPDX-License-Identifier: Apache-2.0
// The turns of read sections: numbers of threads outside, then rounds, then engines.
#include "sections.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <stdexcept>

namespace bench {

namespace {

section_loop loop_of(engine_id e) { return e >= engine_id::urcu_memb ? urcu_loop(e) : rcu_loop(e); }

double one_round(worker_threads& workers, const result& r, double seconds) {
  std::vector<tally> tallies(r.threads);
  workers.run(r.threads, [&](std::size_t worker, const worker_threads::starter& start) {
    tallies[worker] = loop_of(r.engine)(seconds, start);
  });
  double mops = 0;
  for (const tally& t : tallies) {
    if (t.succeeded != t.operations)
      throw std::runtime_error(fmt::format(
          "{}: a read section was not open when it should have been, or open when it should not; no figure of "
          "this run can be trusted",
          name_of(r.engine)));
    mops += t.mops();
  }
  return mops;
}

} // namespace

void measure_sections(const run_spec& run, progress& shown, std::vector<result>& results) {
  worker_threads workers(*std::max_element(run.threads.begin(), run.threads.end()));
  shown.stage("read sections");
  for (const std::size_t threads : run.threads) {
    const auto first = static_cast<std::ptrdiff_t>(results.size());
    for (const engine_id e : run.engines) {
      if (!has_sections(e)) continue;
      results.emplace_back();
      results.back().engine = e;
      results.back().what = {kind::read_section, 0};
      results.back().threads = threads;
    }
    for (std::size_t round = 0; round < run.rounds; ++round)
      for (auto r = results.begin() + first; r != results.end(); ++r) {
        shown.step(fmt::format("read sections of {}, {} threads: round {} of {}", name_of(r->engine), threads,
                               round + 1, run.rounds));
        r->rounds_mops.push_back(one_round(workers, *r, run.seconds));
      }
  }
}

} // namespace bench
