// SPDX-License-Identifier: Apache-2.0
#include "explore/search.hpp"

#include <algorithm>

#include <cubby/detail/platform/memory.hpp>

#include "explore/crash.hpp"
#include "explore/pages.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

unsigned indexes_left = ~0u;
bool refuse_index(std::size_t) {
  if (indexes_left == 0) return true;
  --indexes_left;
  return false;
}

} // namespace

std::uint64_t coverage::bounded() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t n : schedules) sum += n;
  return sum;
}

int coverage::bound() const {
  int b = -1;
  while (b < static_cast<int>(most_bound) && exhausted[b + 1]) ++b;
  return b;
}

action explorer::run(const schedule& s) {
  follower who(s);
  return run(who);
}

action explorer::run(chooser& who) {
  driver& c = driver::instance();
  c.new_history();
  run_state state = make_adapter(scenario_);
  if (!state.table->is_ready()) return not_begun(state);
  const crash_note note(scenario_.name);
  indexes_left = scenario_.indexes;
  cubby::detail::memory::install_failure(&refuse_index);
  adapter& table = *state.table;
  table_ = &table;
  const auto threads = static_cast<unsigned>(scenario_.threads.size());
  cubby::detail::sync::word<unsigned> at_work(threads);
  const driver::body_function body = [&](unsigned t) {
    for (const call& one : scenario_.threads[t]) {
      c.begin_call();
      table.perform(t + 1, one);
    }
    if (scenario_.ends && at_work.fetch_add(~0u, cubby::detail::sync::acq_rel) == 1) table.close();
  };
  guard_unmapped_pages();
  const ending how = c.run(threads, body, who);
  reuse_unmapped_pages();
  cubby::detail::memory::install_failure(nullptr);
  action v;
  covered_.longest = std::max<std::uint64_t>(covered_.longest, c.points().size());
  v.complaint = outcome_of(state, how);
  if (!v.complaint.empty()) v.departures = departures_of(c.points());
  return v;
}

std::string explorer::outcome_of(run_state& state, ending how) {
  if (how != ending::finished) {
    leave_behind(state);
    return how == ending::livelock ? "livelock: every thread waits, and no word changes any more"
                                   : "endless: some thread goes on and on";
  }
  state.table->inspect();
  covered_.resizes = std::max(covered_.resizes, state.table->resizes());
  std::string complaint = state.table->complaint;
  if (complaint.empty()) complaint = judge_(state.table->lanes);
  state.table.reset();
  if (complaint.empty() && state.leave != nullptr) complaint = state.leave(state.arena.get());
  return complaint;
}

void explorer::leave_behind(run_state& state) {
  for (cubby::detail::thread_record* const one : state.table->thread_records) leave_for_good(*one);
  leave_for_good(*cubby::detail::registry::local()); // of all fibers
  static auto& kept = *new std::vector<run_state>;   // never destroyed, and seen by who looks for leaks
  kept.push_back(std::move(state));
}

action explorer::not_begun(run_state& state) {
  action v;
  v.complaint = state.table->complaint;
  leave_behind(state);
  return v;
}

bool explorer::search(unsigned bound, clock::time_point until) {
  schedule taken;
  covered_.schedules[bound] = 0;
  covered_.exhausted[bound] = descend(taken, 0, bound, until);
  return covered_.exhausted[bound];
}

/// Runs the schedule `taken`, then each that departs once more behind its last departure.
bool explorer::descend(schedule& taken, unsigned preemptions, unsigned bound, clock::time_point until) {
  if (clock::now() > until) return false;
  const action v = run(taken);
  covered_.schedules[bound] += preemptions == bound ? 1 : 0;
  if (!v.complaint.empty()) {
    fail(v);
    return false;
  }
  if (prune_ && driver::instance().last_departure_was_idle()) return true;
  const std::vector<decision_point> points = driver::instance().points();
  std::size_t first = points.size();
  while (first > 0 && points[first - 1].chosen == points[first - 1].usual) --first;
  for (std::size_t i = first; i < points.size(); ++i) {
    const decision_point& p = points[i];
    const unsigned cost = preemptions + (p.forced ? 0 : 1);
    if (cost > bound) continue;
    for (std::uint8_t to = 0; to < most_threads; ++to) {
      if ((p.ready >> to & 1) == 0 || to == p.usual) continue;
      taken.push_back({p.from, to, p.at});
      const bool all = descend(taken, cost, bound, until);
      taken.pop_back();
      if (!all) return false;
    }
  }
  return true;
}

bool explorer::search_at_random(std::uint64_t seed, std::uint64_t most, clock::time_point until) {
  const auto threads = static_cast<unsigned>(scenario_.threads.size());
  const bool own_mover = scenario_.options.growth == cubby::growth_policy::background;
  for (std::uint64_t n = 0; n < most && clock::now() <= until; ++n) {
    const std::uint64_t drawn = splitmix(seed + n);
    prioritizer who(drawn, own_mover ? most_threads : threads, 1 + static_cast<unsigned>(drawn % 4), covered_.longest);
    const action v = run(who);
    ++covered_.random;
    if (v.complaint.empty()) continue;
    fail(v);
    return false;
  }
  return true;
}

/// Leaves departures out, one or two neighbours at a time, as long as what remains still fails.
schedule explorer::shortened(schedule s) {
  for (std::size_t i = 0; i < s.size();) {
    bool shorter = false;
    for (std::ptrdiff_t count = 1; count <= 2 && !shorter && i + static_cast<std::size_t>(count) <= s.size(); ++count) {
      schedule without = s;
      const auto at = without.begin() + static_cast<std::ptrdiff_t>(i);
      without.erase(at, at + count);
      const action v = run(without);
      shorter = !v.complaint.empty() && v.departures.size() < s.size();
      if (shorter) s = v.departures; // those that came to pass
    }
    i = shorter ? 0 : i + 1;
  }
  return s;
}

void explorer::fail(const action& v) {
  const schedule s = shortened(v.departures);
  failed_.emplace();
  failed_->where = scenario_.name + "@" + write(s);
  failed_->text = scenario_.name + " on " + cubby_test::name_of(scenario_.table) + ":\n" + trace(s) + "first seen as " +
                  write(v.departures) + "\nagain: CUBBY_EXPLORE_REPLAY=\"" + failed_->where + "\"\n";
  failed_->preemptions = preemptions_in(driver::instance().points());
  // Another schedule may fail with fewer preemptions: a short look.
  for (unsigned bound = 0; bound < failed_->preemptions && bound <= coverage::most_bound; ++bound) {
    explorer again(scenario_);
    (void)again.search(bound, clock::now() + std::chrono::seconds(2));
    if (!again.failed()) continue;
    failed_ = again.failed();
    return;
  }
}

std::string explorer::trace(const schedule& s) {
  static const char* const kinds[] = {"load ", "store", "rmw8 ", "rmw16", "wait "};
  driver& c = driver::instance();
  std::string text;
  std::uint8_t last = nobody;
  std::uint32_t call_number = 0;
  c.listen([&](const taken_step& one) {
    if (one.thread >= scenario_.threads.size()) {
      if (one.thread != last) text += "  the mover\n";
    } else if (one.thread != last || one.call != call_number) {
      text += "  thread " + std::to_string(one.thread) + ", " +
              describe(scenario_.threads[one.thread][one.call == 0 ? 0 : one.call - 1]) +
              (one.thread != last ? "" : " (next call)") + "\n";
    }
    last = one.thread;
    call_number = one.call;
    text += std::string("    ") + kinds[static_cast<std::size_t>(one.kind)] + " " +
            (one.kind == step::wait ? std::string() : table_->name_of(one.address)) + "\n";
  });
  follower who(s);
  const action v = run(who);
  c.listen(nullptr);
  return (v.complaint.empty() ? "nothing is wrong with this schedule\n" : v.complaint + "\n") + "schedule " + write(s) +
         ":\n" + text;
}

} // namespace cubby_test
