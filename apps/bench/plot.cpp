// SPDX-License-Identifier: Apache-2.0
// Decides what a chapter shows along which axis.
#include "plot.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <functional>

#include "features.hpp"

namespace bench {

namespace {

using axis_value = std::function<double(const result&)>;

std::vector<result> with_workload(const std::vector<result>& results, const std::string& name) {
  std::vector<result> some;
  for (const result& r : results)
    if (name_of(r.what) == name) some.push_back(r);
  return some;
}

std::vector<std::string> workloads_in(const std::vector<result>& results) {
  std::vector<std::string> names;
  for (const result& r : results)
    if (std::find(names.begin(), names.end(), name_of(r.what)) == names.end()) names.push_back(name_of(r.what));
  return names;
}

series& series_of(plot& p, engine_id engine) {
  for (series& s : p.all)
    if (s.engine == engine) return s;
  p.all.push_back({std::string(name_of(engine)), engine, engine == engine_id::limit, {}});
  return p.all.back();
}

plot along(const std::vector<result>& results, const std::string& title, const std::string& x_label, bool log_x,
           const axis_value& x) {
  plot p;
  p.title = title;
  p.x_label = x_label;
  p.y_label = "million operations per second";
  p.log_x = log_x;
  for (const result& r : results) series_of(p, r.engine).points.emplace_back(x(r), r.median_mops);
  return p;
}

struct dimension {
  const char* label;
  const char* name;
  const std::vector<std::size_t> run_spec::* list;
  std::size_t result::* of;
  bool log_x;
};

const dimension dimensions[] = {
    {"threads", "threads", &run_spec::threads, &result::threads, false},
    {"operations in a batch", "batch size", &run_spec::batch, &result::batch, true},
    {"bytes of a value", "value size", &run_spec::value_sizes, &result::value_size, true},
    {"bytes of a key", "key size", &run_spec::key_sizes, &result::key_size, true},
    {"keys in the table", "index size", &run_spec::keys, &result::keys, true},
};

// Where several lists vary, a plot along one of them holds the others at their last entry.
std::vector<result> others_held(const run_spec& run, const std::vector<result>& results, const dimension& kept) {
  std::vector<result> some;
  for (const result& r : results) {
    bool fits = true;
    for (const dimension& d : dimensions)
      if (d.list != kept.list && (run.*d.list).size() > 1 && r.engine != engine_id::std_map)
        fits = fits && r.*d.of == (run.*d.list).back();
    if (fits) some.push_back(r);
  }
  return some;
}

// Whether anything was measured at two places: `std` has one thread whatever was asked for.
bool has_course(const plot& p) {
  return std::any_of(p.all.begin(), p.all.end(), [&](const series& s) {
    return std::any_of(s.points.begin(), s.points.end(),
                       [&](const auto& at) { return at.first != p.all.front().points.front().first; });
  });
}

void add_sweeps(std::vector<plot>& all, const chapter& c) {
  for (const dimension& d : dimensions)
    for (const std::string& name : workloads_in(c.results)) {
      plot p = along(others_held(c.run, with_workload(c.results, name), d), fmt::format("{} by {}", name, d.name),
                     d.label, d.log_x, [&](const result& r) { return static_cast<double>(r.*d.of); });
      if ((c.run.*d.list).size() > 1 && has_course(p)) all.push_back(std::move(p));
    }
}

void add_skew(std::vector<plot>& all, const chapter& c) {
  std::vector<result> skewed;
  for (const result& r : c.results)
    if (r.what.what == kind::skew) skewed.push_back(r);
  if (workloads_in(skewed).size() > 1)
    all.push_back(along(skewed, fmt::format("finds with {} hot keys", hot_keys),
                        "percent of the finds that ask for a hot key", false,
                        [](const result& r) { return r.what.hot_percent; }));
}

plot timeline(const std::vector<result>& results, const char* title, const char* label, double sample::* figure) {
  plot p;
  p.title = title;
  p.x_label = "milliseconds from the first update";
  p.y_label = label;
  p.drawn = plot::form::curve;
  for (const result& r : results)
    for (const sample& s : r.timeline) series_of(p, r.engine).points.emplace_back(s.milliseconds, s.*figure);
  return p;
}

void add_timelines(std::vector<plot>& all, const chapter& c) {
  const auto add = [&all](plot p) {
    if (!p.all.empty()) all.push_back(std::move(p));
  };
  for (const std::string& name : workloads_in(c.results)) {
    const std::vector<result> some = with_workload(c.results, name);
    if (some.front().what.what == kind::grow_shrink) {
      add(timeline(some, "finds while the table grows and shrinks", "million finds per second", &sample::find_mops));
      add(timeline(some, "keys in the table meanwhile", "keys", &sample::keys));
    } else {
      add(timeline(some, "finds while the table grows", "million finds per second", &sample::find_mops));
      add(timeline(some, "inserts that make it grow", "million inserts per second", &sample::insert_mops));
    }
  }
}

void add_latencies(std::vector<plot>& all, const chapter& c) {
  for (const std::string& name : workloads_in(c.results)) {
    plot p;
    p.title = fmt::format("latency of {}", name == "populate" ? "an insert while the table grows" : name);
    p.x_label = "share of the operations that took no longer";
    p.y_label = "nanoseconds";
    p.log_y = true;
    p.x_names = {{"50 %", 0}, {"99 %", 1}, {"99.9 %", 2}, {"99.99 %", 3}, {"all", 4}};
    for (const result& r : with_workload(c.results, name))
      if (r.latency)
        series_of(p, r.engine).points = {{0, r.latency->p50},
                                         {1, r.latency->p99},
                                         {2, r.latency->p999},
                                         {3, r.latency->p9999},
                                         {4, r.latency->longest}};
    if (!p.all.empty()) all.push_back(std::move(p));
  }
}

double place_of(plot& p, std::string_view label) {
  for (const auto& [name, at] : p.x_names)
    if (name == label) return at;
  p.x_names.emplace_back(label, static_cast<double>(p.x_names.size()));
  return p.x_names.back().second;
}

void add_feature(plot& p, const feature_engine& e, double mops) {
  const double at = place_of(p, e.label);
  const bool first = e.features <= resizing; // nothing before it: the same alone and stacked
  if (!e.stacked() || first) p.all[0].points.emplace_back(at, mops);
  if (e.stacked() || first) p.all[1].points.emplace_back(at, mops);
}

plot bars(const chapter& c) {
  plot p;
  p.title = "throughput";
  p.x_label = "workload";
  p.y_label = "million operations per second";
  p.drawn = plot::form::bars;
  const std::vector<std::string> names = workloads_in(c.results);
  for (std::size_t i = 0; i < names.size(); ++i) {
    p.x_names.emplace_back(names[i], static_cast<double>(i));
    for (const result& r : with_workload(c.results, names[i]))
      series_of(p, r.engine).points.emplace_back(static_cast<double>(i), r.median_mops);
  }
  return p;
}

// The paper's figure 14: for each feature a bar with it alone, and one with all before it as well.
void add_features(std::vector<plot>& all, const chapter& c) {
  for (const std::string& name : workloads_in(c.results)) {
    plot p;
    p.title = fmt::format("{} by features of dlht", name);
    p.x_label = "feature switched on (values, keys: of any size)";
    p.y_label = "million operations per second";
    p.drawn = plot::form::bars;
    // Two colours that no bar of another engine shares here.
    p.all = {{"alone", engine_id::reference, false, {}}, {"with those before it", engine_id::dlht, false, {}}};
    for (const result& r : with_workload(c.results, name))
      if (is_feature_engine(r.engine)) add_feature(p, feature_engine_of(r.engine), r.median_mops);
    if (!p.x_names.empty()) all.push_back(std::move(p));
  }
}

plot memory(const chapter& c) {
  plot p = bars(c);
  p.title = "memory after the last insert";
  p.y_label = "bytes of resident memory per key";
  for (series& s : p.all) s.points.clear();
  for (const result& r : c.results)
    if (r.engine != engine_id::limit) series_of(p, r.engine).points.emplace_back(0, r.bytes_per_key.value_or(0));
  p.all.erase(std::remove_if(p.all.begin(), p.all.end(), [](const series& s) { return s.points.empty(); }),
              p.all.end());
  return p;
}

} // namespace

std::vector<plot> plots_of(const chapter& c) {
  std::vector<plot> all;
  if (c.results.empty()) return all;
  add_timelines(all, c);
  add_sweeps(all, c);
  add_skew(all, c);
  add_features(all, c);
  if (all.empty() && !c.run.latency) {
    all.push_back(bars(c));
    if (workloads_in(c.results) == std::vector<std::string>{"populate"}) all.push_back(memory(c));
  }
  add_latencies(all, c);
  // `limit` stores nothing, so alone it has no memory to show.
  std::erase_if(all, [](const plot& one) { return one.all.empty(); });
  return all;
}

} // namespace bench
