// SPDX-License-Identifier: Apache-2.0
// Decides what a chapter shows along which axis.
#include "plot.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <functional>

#include "features.hpp"
#include "machine.hpp"

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

// What was measured twice is drawn once: `std` has one thread at any number of threads, and a file may have fewer lines
// than each of two sizes.
std::vector<result> distinct(const std::vector<result>& results) {
  std::vector<result> some;
  for (const result& r : results)
    if (std::none_of(some.begin(), some.end(),
                     [&](const result& x) { return x.engine == r.engine && same_point(x, r); }))
      some.push_back(r);
  return some;
}

// Finds the line of a result in a plot: one for each engine and combination of the sizes that differ among the results
// of the plot, but the one along x.
class legend {
public:
  legend(plot& p, const std::vector<result>& among, size_field x = nullptr) : plot_(p), among_(among), x_(x) {}

  series& line_of(const result& r) { return line_of(r, std::string(name_of(r.engine)), r.engine, is_limit(r.engine)); }
  // The same with another name and colour than the engine's.
  series& line_of(const result& r, const std::string& what, engine_id colour, bool dashed = false) {
    const std::string sizes = sizes_of(r, among_, x_);
    const std::string name = what + sizes;
    for (series& s : plot_.all)
      if (s.name == name) return s;
    plot_.all.push_back({name, colour, dashed, {}, combination(sizes)});
    return plot_.all.back();
  }

private:
  std::size_t combination(const std::string& sizes) {
    const auto at = std::find(combinations_.begin(), combinations_.end(), sizes);
    const auto number = static_cast<std::size_t>(at - combinations_.begin());
    if (at == combinations_.end()) combinations_.push_back(sizes);
    return number;
  }

  plot& plot_;
  const std::vector<result>& among_;
  size_field x_;
  std::vector<std::string> combinations_;
};

// `size`: the one along x, if x is one.
plot along(const std::vector<result>& results, const std::string& title, const std::string& x_label, size_field size,
           const axis_value& x) {
  plot p;
  p.title = title;
  p.x_label = x_label;
  p.y_label = "million operations per second";
  legend names(p, results, size);
  for (const result& r : results) names.line_of(r).points.emplace_back(x(r), r.median_mops);
  for (series& s : p.all) std::sort(s.points.begin(), s.points.end());
  return p;
}

struct dimension {
  const char* label;
  const char* name;
  size_field of;
  bool log_x;
};

const dimension dimensions[] = {
    {"threads", "threads", &result::threads, false},
    {"operations in a batch", "batch size", &result::batch, true},
    {"bytes of a value", "value size", &result::value_size, true},
    {"bytes of a key", "key size", &result::key_size, true},
    {"keys in the table", "index size", &result::keys, true},
};

// Which threads are counted along x, and whether there are more of them, with those that update, than cores.
std::string threads_label(const std::vector<result>& some) {
  std::string label = "threads";
  std::size_t most = 0;
  for (const result& r : some) {
    most = std::max(most, std::max(r.threads, r.finders + r.updaters));
    if (r.updaters != 0)
      label = r.finders == r.threads
                  ? fmt::format("threads that find, beside {} that update{}", r.updaters, r.updaters == 1 ? "s" : "")
                  : "threads, half of which find";
  }
  const std::size_t cores = describe_machine().cores;
  return most > cores ? label + fmt::format(" (sharing {} core{})", cores, cores == 1 ? "" : "s") : label;
}

void add_sweeps(std::vector<plot>& all, const std::vector<result>& results) {
  for (const dimension& d : dimensions)
    for (const std::string& name : workloads_in(results)) {
      const std::vector<result> some = with_workload(results, name);
      if (!differs(some, d.of)) continue;
      all.push_back(along(some, fmt::format("{} by {}", name, d.name),
                          d.of == &result::threads ? threads_label(some) : d.label, d.of,
                          [&](const result& r) { return static_cast<double>(r.*d.of); }));
      all.back().log_x = d.log_x;
    }
}

std::vector<result> skewed(const std::vector<result>& results) {
  std::vector<result> some;
  for (const result& r : results)
    if (r.what.what == kind::skew) some.push_back(r);
  return some;
}

void add_skew(std::vector<plot>& all, const std::vector<result>& results) {
  const std::vector<result> some = skewed(results);
  if (workloads_in(some).size() > 1)
    all.push_back(along(some, fmt::format("finds with {} hot keys", hot_keys),
                        "percent of the finds that ask for a hot key", nullptr,
                        [](const result& r) { return r.what.hot_percent; }));
}

plot timeline(const std::vector<result>& results, const char* title, const char* label, double sample::* figure) {
  plot p;
  p.title = title;
  p.x_label = "milliseconds";
  p.y_label = label;
  p.drawn = plot::form::curve;
  legend names(p, results);
  for (const result& r : results)
    if (has_timeline(r))
      for (const sample& s : r.timeline) names.line_of(r).points.emplace_back(s.milliseconds, s.*figure);
  return p;
}

void add_timelines(std::vector<plot>& all, const std::vector<result>& results) {
  const auto add = [&all](plot p) {
    if (!p.all.empty()) all.push_back(std::move(p));
  };
  for (const std::string& name : workloads_in(results)) {
    const std::vector<result> some = with_workload(results, name);
    if (some.front().what.what == kind::grow_shrink) {
      add(timeline(some, "finds while the table grows and shrinks", "million finds per second", &sample::find_mops));
      add(timeline(some, "keys in the table meanwhile", "keys", &sample::keys));
    } else {
      add(timeline(some, "finds while the table grows", "million finds per second", &sample::find_mops));
      add(timeline(some, "inserts that make it grow", "million inserts per second", &sample::insert_mops));
    }
  }
}

// Without those of one window: it would be no line.
plot course(const std::vector<result>& results, const char* title, double window_rates::* figure) {
  plot p;
  p.title = title;
  p.x_label = "milliseconds";
  p.y_label = "million inserts per second";
  p.drawn = plot::form::curve;
  legend names(p, results);
  std::vector<double> ends;
  for (const result& r : results) {
    if (r.course.size() < 2) continue;
    ends.push_back(r.course.back().milliseconds);
    for (const window_rates& stretch : r.course)
      names.line_of(r).points.emplace_back(stretch.milliseconds, stretch.*figure);
  }
  // One that takes far longer than most runs out of the plot, or the others would be too narrow to read.
  const double most = ends.empty() ? 0 : *std::max_element(ends.begin(), ends.end());
  if (most > 4 * median_of(ends)) p.x_most = 2 * median_of(ends);
  return p;
}

// Populations, where none of their sizes varies: else their lines have different lengths, and say nothing side by side.
void add_courses(std::vector<plot>& all, const std::vector<result>& results) {
  const std::vector<result> some = with_workload(results, name_of(workload{kind::populate, 0}));
  if (std::any_of(std::begin(dimensions), std::end(dimensions),
                  [&](const dimension& d) { return differs(some, d.of); }))
    return;
  plot rates = course(some, "inserts over time, into tables that begin empty", &window_rates::mean);
  if (rates.all.empty()) return;
  all.push_back(std::move(rates));
  // Where each stretch is one window, both would be the same.
  const auto has_several = [](const result& r) {
    return std::any_of(r.course.begin(), r.course.end(),
                       [](const window_rates& one) { return one.lowest < one.highest; });
  };
  if (std::any_of(some.begin(), some.end(), has_several))
    all.push_back(course(some, "the slowest 10 ms meanwhile", &window_rates::lowest));
}

void add_latencies(std::vector<plot>& all, const std::vector<result>& results) {
  for (const std::string& name : workloads_in(results)) {
    plot p;
    p.title = fmt::format("latency of {}", name == "populate" ? "an insert while the table grows" : name);
    p.x_label = "share of the operations that took no longer";
    p.y_label = "nanoseconds";
    p.log_y = true;
    p.x_names = {{"50 %", 0}, {"99 %", 1}, {"99.9 %", 2}, {"99.99 %", 3}, {"all", 4}};
    const std::vector<result> some = with_workload(results, name);
    legend names(p, some);
    for (const result& r : some)
      if (r.latency)
        names.line_of(r).points = {{0, r.latency->p50},
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

void add_feature(plot& p, legend& names, const result& r) {
  const feature_engine& e = feature_engine_of(r.engine);
  const double at = place_of(p, e.label);
  const bool first = e.features <= resizing; // nothing before it: the same alone and stacked
  // Two colours that no bar of another engine shares here.
  if (!e.stacked() || first) names.line_of(r, "alone", engine_id::reference).points.emplace_back(at, r.median_mops);
  if (e.stacked() || first)
    names.line_of(r, "with those before it", engine_id::dlht).points.emplace_back(at, r.median_mops);
}

// The paper's figure 14: for each feature a bar with it alone, and one with all before it as well.
void add_features(std::vector<plot>& all, const std::vector<result>& results) {
  for (const std::string& name : workloads_in(results)) {
    plot p;
    p.title = fmt::format("{} by features of dlht", name);
    p.x_label = "feature switched on (values, keys: of any size)";
    p.y_label = "million operations per second";
    p.drawn = plot::form::bars;
    const std::vector<result> some = with_workload(results, name);
    legend names(p, some);
    for (const result& r : some)
      if (is_feature_engine(r.engine)) add_feature(p, names, r);
    if (!p.x_names.empty()) all.push_back(std::move(p));
  }
}

// Whether one of the plots above shows the result.
bool is_drawn(const result& r, const std::vector<result>& results) {
  const std::vector<result> same = with_workload(results, name_of(r.what));
  const bool swept = std::any_of(std::begin(dimensions), std::end(dimensions),
                                 [&](const dimension& d) { return differs(same, d.of); });
  const bool by_share = r.what.what == kind::skew && workloads_in(skewed(results)).size() > 1;
  return swept || by_share || has_timeline(r) || r.latency || is_feature_engine(r.engine);
}

std::vector<result> left_for_bars(const std::vector<result>& results) {
  std::vector<result> left;
  for (const std::string& name : workloads_in(results)) {
    const std::vector<result> some = with_workload(results, name);
    if (!std::all_of(some.begin(), some.end(), [&](const result& r) { return is_drawn(r, results); }))
      left.insert(left.end(), some.begin(), some.end());
  }
  return left;
}

plot bars(const std::vector<result>& results, const char* title, const char* label, const axis_value& figure) {
  plot p;
  p.title = title;
  p.x_label = "workload";
  p.y_label = label;
  p.drawn = plot::form::bars;
  legend names(p, results);
  for (const result& r : results) names.line_of(r).points.emplace_back(place_of(p, name_of(r.what)), figure(r));
  return p;
}

void add_bars(std::vector<plot>& all, std::vector<result> left) {
  // Apart: beside them the bars of tables would be too low to compare.
  const std::vector<result> sections = with_workload(left, name_of(workload{kind::read_section, 0}));
  if (!sections.empty())
    all.push_back(
        bars(sections, "read sections", "million sections per second", [](const result& r) { return r.median_mops; }));
  std::erase_if(left, [](const result& r) { return is_section(r.what); });
  if (left.empty()) return;
  all.push_back(
      bars(left, "throughput", "million operations per second", [](const result& r) { return r.median_mops; }));
  if (workloads_in(left) != std::vector<std::string>{"populate"}) return;
  // It stores nothing.
  std::erase_if(left, [](const result& r) { return is_limit(r.engine); });
  if (!left.empty())
    all.push_back(bars(left, "memory after the last insert", "bytes of resident memory per key",
                       [](const result& r) { return r.bytes_per_key.value_or(0); }));
}

} // namespace

std::vector<plot> plots_of(const chapter& c) {
  std::vector<plot> all;
  const std::vector<result> results = distinct(c.results);
  add_sweeps(all, results);
  add_timelines(all, results);
  add_courses(all, results);
  add_skew(all, results);
  add_features(all, results);
  add_bars(all, left_for_bars(results));
  add_latencies(all, results);
  return all;
}

} // namespace bench
