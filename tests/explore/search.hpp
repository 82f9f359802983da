// SPDX-License-Identifier: Apache-2.0
// The two searches over the schedules of a scenario, and what is made of a schedule that fails: it is shortened while it
// still fails, and its steps are printed.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "explore/driver.hpp"
#include "explore/judge.hpp"
#include "explore/scenario.hpp"

namespace cubby_test {

/// How one schedule ended.
struct action {
  std::string complaint; ///< empty: all is well
  schedule departures{}; ///< only of a failure
};

struct failure {
  std::string where; ///< what CUBBY_EXPLORE_REPLAY takes
  std::string text;  ///< complaint, schedule and trace, for a person
  unsigned preemptions = 0;
};

/// What has been explored of a scenario.
struct coverage {
  static constexpr unsigned most_bound = 4;
  std::uint64_t schedules[most_bound + 1] = {}; ///< with exactly that many preemptions
  bool exhausted[most_bound + 1] = {};
  std::uint64_t random = 0;
  std::uint64_t longest = 0; ///< decisions in a schedule
  std::uint64_t resizes = 0; ///< the most that a schedule has seen
  [[nodiscard]] std::uint64_t bounded() const;
  /// The largest bound up to which every schedule was run; -1: none.
  [[nodiscard]] int bound() const;
};

class explorer {
public:
  using clock = std::chrono::steady_clock;
  static constexpr auto no_end = clock::time_point::max();
  /// `prune`: behind a departure that made no difference (driver.hpp) no further ones are tried, because they are
  /// tried behind the same departure one step later.
  explicit explorer(const scenario& s, bool prune = true) : scenario_(s), prune_(prune) {}

  /// Depth first over all schedules of at most `bound` preemptions, those of exactly `bound` being counted.
  /// False: something failed, or time was up first (`exhausted` tells).
  bool search(unsigned bound, clock::time_point until);
  /// Random priorities with 1 to 4 changes, until then or for so many schedules.
  bool search_at_random(std::uint64_t seed, std::uint64_t most, clock::time_point until);
  /// Runs one schedule.
  action run(const schedule& s);
  /// The same with a trace.
  std::string trace(const schedule& s);

  [[nodiscard]] const coverage& covered() const noexcept { return covered_; }
  [[nodiscard]] const std::optional<failure>& failed() const noexcept { return failed_; }
  [[nodiscard]] const judge& judged() const noexcept { return judge_; }
  [[nodiscard]] const scenario& what() const noexcept { return scenario_; }

private:
  action run(chooser& who);
  std::string outcome_of(run_state& state, ending how);
  static action not_begun(run_state& state);
  /// A table with fibers that will never go on.
  static void leave_behind(run_state& state);
  bool descend(schedule& taken, unsigned preemptions, unsigned bound, clock::time_point until);
  void fail(const action& v);
  schedule shortened(schedule s);

  scenario scenario_;
  bool prune_;
  judge judge_;
  coverage covered_;
  adapter* table_ = nullptr; // of the run that is under way
  std::optional<failure> failed_;
};

} // namespace cubby_test
