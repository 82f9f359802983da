// SPDX-License-Identifier: Apache-2.0
// The workload `read-section`: a thread enters, loads one word and leaves, over and over. No thread writes. A flavour names
// what a thread holds, `section`, which lives from entering to leaving, and where it can tell, `inside`.
#pragma once

#include <cstdint>
#include <vector>

#include "loops.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "result.hpp"

namespace bench {

// What all sections load, so that none is optimised to nothing.
inline const volatile std::uint64_t looked_at = 1;

// Whether the thread is inside while a section lives, and outside when it has ended. Inlined: otherwise the thread record's
// address would be passed to a function, and the record would be read from memory.
template <class Flavour> [[gnu::always_inline]] inline bool holds(Flavour& mine) {
  if constexpr (requires { mine.inside(); }) {
    bool seen = false;
    {
      [[maybe_unused]] const typename Flavour::section inside(mine);
      seen = mine.inside();
    }
    return seen && !mine.inside();
  }
  return true;
}

// Sections of the calling thread until the time is over, with a look at the clock after so many that it does not count. Those of
// a stretch after which a section did not hold have not succeeded.
template <class Flavour> tally enter_and_leave(double seconds, const worker_threads::starter& start) {
  constexpr std::uint64_t stretch = 65536;
  Flavour mine;
  bool sound = holds(mine); // and the thread is known to the flavour before the time begins
  start();
  tally t;
  const double begin = seconds_now();
  while (t.seconds < seconds) {
    for (std::uint64_t i = 0; i < stretch; ++i) {
      [[maybe_unused]] const typename Flavour::section inside(mine);
      (void)looked_at;
    }
    t.operations += stretch;
    sound = holds(mine) && sound;
    if (sound) t.succeeded += stretch;
    t.seconds = seconds_now() - begin;
  }
  return t;
}

using section_loop = tally (*)(double seconds, const worker_threads::starter& start);
section_loop rcu_loop(engine_id e);  // of `rcu`, `rcu-record` and `limit`
section_loop urcu_loop(engine_id e); // of liburcu's flavours

// Appends a result for each engine that has sections and each number of threads, engines taking turns in every round.
void measure_sections(const run_spec& run, progress& shown, std::vector<result>& results);

} // namespace bench
