// SPDX-License-Identifier: Apache-2.0
// Scripts of verbs that threads play on one table, of any engine, under the scheduler, and the judgement of what they
// recorded.
#pragma once

#include <memory>
#include <vector>

#include <cubby/map.hpp>

#include "engines.hpp"
#include "linearizability/checker.hpp"
#include "linearizability/client.hpp"
#include "support/act.hpp"
#include "support/fiber_scheduler.hpp"

namespace cubby_test::scripted {

struct request_line {
  act what;
  std::uint64_t key = 1;
  std::uint64_t argument = 5;
};
using script = std::vector<request_line>;

template <class Coding>
void play(client<Coding>& c, const request_line& r) {
  switch (r.what) {
  case act::upsert: return c.upsert(r.key, r.argument);
  case act::toggle: return c.toggle(r.key, r.argument);
  case act::commit: return c.reserve_then(true, r.key, r.argument);
  case act::abort: return c.reserve_then(false, r.key, r.argument);
  default: return c.call(static_cast<verb>(r.what), r.key, r.argument);
  }
}

/// One table and the recorded threads of one schedule.
template <class Coding>
class run {
public:
  explicit run(const table_options& o) : map(o) {}
  void now(const script& s) {
    trace& t = lane();
    client<Coding> c(map, t);
    for (const auto& r : s) play(c, r);
  }
  std::size_t thread(const script& s) {
    // The handle is made here, so that the thread's first step is the first step of its first verb.
    auto c = std::make_shared<client<Coding>>(map, lane());
    return turns.start([c, &s] {
      for (const auto& r : s) play(*c, r);
    });
  }
  finding end(std::uint64_t keys) {
    if (!turns.finish_all()) return {judgement::not_checked, 0, "a schedule does not end"};
    script looks;
    for (std::uint64_t k = 0; k < keys; ++k) looks.push_back({act::find, k});
    now(looks);
    std::vector<record> history;
    for (const auto& t : traces_) history.insert(history.end(), t->records().begin(), t->records().end());
    return check_history(history);
  }
  typename Coding::map map;
  fiber_scheduler turns;

private:
  trace& lane() {
    traces_.push_back(std::make_unique<trace>(static_cast<std::uint16_t>(traces_.size()), 200));
    return *traces_.back();
  }
  std::vector<std::unique_ptr<trace>> traces_;
};

/// `first` stands after i steps, `second` after j; then `first` ends, then `second`. For every i and j; under
/// ThreadSanitizer for every fifth j, as schedules of one step at a time hold no race to be seen.
template <class Coding>
void at_every_pair_of_steps(const script& before, const script& first, const script& second) {
  for (std::uint64_t i = 1;; ++i) {
    bool first_ended = false;
    for (std::uint64_t j = 0;; ++j) {
      if (cubby::detail::cpu::thread_sanitizer && j % 5 != i % 5) continue;
      run<Coding> r(tiny_options());
      r.now(before);
      const auto a = r.thread(first), b = r.thread(second);
      first_ended = r.turns.run(a, i) == scheduler::stopped::finished;
      const bool second_ended = r.turns.run(b, j) != scheduler::stopped::before_step;
      r.turns.run_until(a, scheduler::never);
      const finding f = r.end(14);
      ASSERT_EQ(f.what, judgement::linearizable) << "stops " << i << " " << j << "\n" << f.text;
      if (second_ended) break;
    }
    if (first_ended) return;
  }
}

} // namespace cubby_test::scripted
