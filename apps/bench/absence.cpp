// SPDX-License-Identifier: Apache-2.0
// Goes through engines and workloads of a run.
#include "absence.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "features.hpp"

namespace bench {

namespace {

// "dlht-pipe does this; limit does that", each engine once for each reason.
std::string reasons(const run_spec& run, const workload& w, bool latency) {
  std::vector<std::string> all;
  for (const engine_id e : run.engines) all.push_back(fmt::format("{} {}", name_of(e), why_absent(e, w, latency)));
  return fmt::format("{}", fmt::join(all, "; "));
}

bool has_figure(const run_spec& run, const workload& w, bool latency) {
  return std::any_of(run.engines.begin(), run.engines.end(),
                     [&](engine_id e) { return why_absent(e, w, latency).empty(); });
}

void add_absences(std::vector<std::string>& all, const run_spec& run, engine_id e, bool latency) {
  std::vector<std::string_view> told;
  for (const workload& first : run.workloads) {
    const std::string_view why = why_absent(e, first, latency);
    if (why.empty() || std::find(told.begin(), told.end(), why) != told.end()) continue;
    told.push_back(why);
    std::vector<std::string> names;
    for (const workload& w : run.workloads)
      if (why_absent(e, w, latency) == why && (!latency || why_absent(e, w, false).empty()))
        names.push_back(name_of(w));
    if (names.empty()) continue; // it has been said that there is no figure of any kind
    all.push_back(fmt::format("{} of {} under {}: it {}", latency ? "no latency" : "no figure", name_of(e),
                              fmt::join(names, ", "), why));
  }
}

// "no timeline of dlht, tbb under resize keys=2k: ...", once for each workload and combination of sizes.
void add_missing_timelines(std::vector<std::string>& all, const std::vector<result>& results) {
  std::vector<std::pair<result, std::vector<std::string_view>>> points;
  for (const result& r : results) {
    if (!updates_beside_finds(r.what) || has_timeline(r)) continue;
    auto at = std::find_if(points.begin(), points.end(), [&](const auto& p) { return same_point(p.first, r); });
    if (at == points.end()) at = points.insert(at, {r, {}});
    at->second.push_back(name_of(r.engine));
  }
  for (const auto& [r, engines] : points)
    all.push_back(fmt::format("no timeline of {} under {}{}: the round was over before a second sample, 5 ms after the "
                              "first; give {}",
                              fmt::join(engines, ", "), name_of(r.what), sizes_of(r, results),
                              r.what.what == kind::grow_shrink ? "more --seconds" : "more keys"));
}

} // namespace

std::string_view why_absent(engine_id e, const workload& w, bool latency) {
  if (is_section(w) && !has_sections(e)) return "has no read section that could be entered by itself";
  if (is_section(w) && latency) return "takes less time than reading the clock";
  if (!is_section(w) && is_flavour(e)) return "has read sections alone, and holds no keys";
  if (!keeps_order(e) && wants_order(w)) return "may carry out requests on one key in another order than they came";
  if (e == engine_id::partitioned && w.what == kind::upsert) return "has no insert-or-assign";
  if (!keeps_order(e) && latency)
    return "answers later, while others are pending, so that no operation has a time of its own";
  if (updates_beside_finds(w) && e == engine_id::std_map)
    return "has one thread only, and one has to find while another updates";
  if (is_limit(e) && (latency || updates_beside_finds(w))) return "stores nothing";
  if (wants_fresh_table(w) && is_feature_engine(e) && (feature_engine_of(e).features & resizing) == 0)
    return "does not grow";
  if (e == engine_id::iceberg_full && (wants_fresh_table(w) || w.what == kind::ycsb_d))
    return "does not grow, and has no places for new keys";
  if (w.what == kind::grow_shrink && !shrinks(e)) return "does not shrink by itself";
  if (updates_beside_finds(w) && latency)
    return "is asked by one thread while another updates, and nothing is timed by itself";
  return {};
}

void check_figures(const run_spec& run) {
  for (const workload& w : run.workloads)
    if (!has_figure(run, w, false))
      throw bad_request(fmt::format("--workload {}: no engine of this run takes part ({}); add one that does, such as "
                                    "{}, or leave {} out",
                                    name_of(w), reasons(run, w, false), is_section(w) ? "rcu" : "dlht", name_of(w)));
  const auto is_timed = [&](const workload& w) { return has_figure(run, w, true); };
  if (run.latency && std::none_of(run.workloads.begin(), run.workloads.end(), is_timed))
    throw bad_request(
        fmt::format("--latency: no operation of this run can be timed by itself ({}); add {}, or leave "
                    "--latency out",
                    reasons(run, run.workloads.front(), true),
                    updates_beside_finds(run.workloads.front()) ? "a workload such as get" : "an engine such as dlht"));
}

std::vector<std::string> absences(const chapter& c) {
  std::vector<std::string> all;
  for (const engine_id e : c.run.engines) {
    add_absences(all, c.run, e, false);
    if (c.run.latency) add_absences(all, c.run, e, true);
  }
  add_missing_timelines(all, c.results);
  return all;
}

} // namespace bench
