// SPDX-License-Identifier: Apache-2.0
// Prints results, and writes them as the JSON that docs/bench.md describes.
#include "output.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "../console.hpp"
#include "../kmer/error.hpp"
#include "absence.hpp"
#include "conclusion.hpp"
#include "descriptions.hpp"
#include "durable_files.hpp"

namespace bench {

namespace {

using json = nlohmann::ordered_json;

std::string times(const std::optional<double>& ratio) { return ratio ? fmt::format("{:.2f}", *ratio) : "-"; }

std::string figure(double value, const char* absent = "-") {
  return value > 0 ? fmt::format("{:.1f}", value) : std::string(absent);
}

std::string duration(double nanoseconds) {
  if (nanoseconds >= 1e6) return fmt::format("{:.2f} ms", nanoseconds * 1e-6);
  if (nanoseconds >= 1e4) return fmt::format("{:.1f} us", nanoseconds * 1e-3);
  return fmt::format("{:.0f} ns", nanoseconds);
}

void print_rule(std::size_t width) { console::print("{}\n", std::string(width, '-')); }

std::string shown_name(engine_id engine) {
  return std::string(name_of(engine)) + (engine == engine_id::std_map ? " (1 thread)" : "");
}

std::size_t engine_width(const std::vector<result>& results) {
  std::size_t width = std::string_view("engine").size();
  for (const result& r : results) width = std::max(width, shown_name(r.engine).size());
  return width;
}

std::size_t point_width(const std::vector<result>& results) {
  std::size_t width = std::string_view("latency of one operation").size();
  for (const result& r : results) width = std::max(width, point_of(r, results).size());
  return width;
}

void print_latencies(const std::vector<result>& results) {
  if (std::none_of(results.begin(), results.end(), [](const result& r) { return r.latency.has_value(); })) return;
  const std::size_t first = point_width(results);
  const std::size_t width = engine_width(results);
  console::print("\n{:<{}} {:<{}} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "latency of one operation", first, "engine",
                 width, "p50", "p99", "p99.9", "p99.99", "longest");
  print_rule(56 + first + width);
  for (const result& r : results)
    if (r.latency)
      console::print("{:<{}} {:<{}} {:>10} {:>10} {:>10} {:>10} {:>10}\n", point_of(r, results), first,
                     shown_name(r.engine), width, duration(r.latency->p50), duration(r.latency->p99),
                     duration(r.latency->p999), duration(r.latency->p9999), duration(r.latency->longest));
}

void print_windows(const std::vector<result>& results) {
  if (std::none_of(results.begin(), results.end(), [](const result& r) { return r.windows.has_value(); })) return;
  const std::size_t first = point_width(results);
  const std::size_t width = engine_width(results);
  console::print("\n{:<{}} {:<{}} {:>8} {:>8} {:>8} {:>12}\n", "Mops/s in 10 ms", first, "engine", width, "lowest",
                 "mean", "highest", "lowest/mean");
  print_rule(41 + first + width);
  for (const result& r : results)
    if (r.windows)
      console::print("{:<{}} {:<{}} {:>8.2f} {:>8.2f} {:>8.2f} {:>12.2f}\n", point_of(r, results), first,
                     shown_name(r.engine), width, r.windows->lowest, r.windows->mean, r.windows->highest,
                     r.windows->mean > 0 ? r.windows->lowest / r.windows->mean : 0);
}

json rounded(double value) { return std::round(value * 1000) / 1000; }

json optional_number(const std::optional<double>& value) { return value ? rounded(*value) : json(nullptr); }

json optional_size(std::size_t size) { return size != 0 ? json(size) : json(nullptr); }

json calls_json(const result& r) {
  if (is_section(r.what)) return nullptr;
  return in_batches(r.engine, r.what, r.batch) ? "batch" : "single";
}

json latency_json(const std::optional<latency_figures>& f) {
  if (!f) return nullptr;
  return {{"p50", rounded(f->p50)},
          {"p99", rounded(f->p99)},
          {"p999", rounded(f->p999)},
          {"p9999", rounded(f->p9999)},
          {"max", rounded(f->longest)}};
}

json json_of_rates(const window_rates& rates) {
  return {{"ms", rounded(rates.milliseconds)},
          {"lowest_mops", rounded(rates.lowest)},
          {"mean_mops", rounded(rates.mean)},
          {"highest_mops", rounded(rates.highest)}};
}

json json_of_result(const result& r, const std::string& chapter_title) {
  json j;
  j["engine"] = name_of(r.engine);
  j["workload"] = name_of(r.what);
  j["keys"] = optional_size(r.keys);
  j["threads"] = r.threads;
  j["finders"] = optional_size(r.finders);
  j["updaters"] = optional_size(r.updaters);
  j["batch"] = optional_size(r.batch);
  j["calls"] = calls_json(r);
  j["key_size"] = !r.key_kind.empty() ? json(r.key_kind) : r.text ? json("lines") : optional_size(r.key_size);
  j["value_size"] = optional_size(r.value_size);
  j["domain"] = !r.domain.empty() ? json(r.domain) : json(nullptr);
  j["medium"] = !r.folder.empty() ? json(medium_of(r.folder)) : json(nullptr);
  j["rounds_mops"] = json::array();
  for (const double mops : r.rounds_mops) j["rounds_mops"].push_back(rounded(mops));
  j["median_mops"] = rounded(r.median_mops);
  j["spread"] = rounded(r.spread);
  j["times_limit"] = optional_number(r.times_limit);
  j["times_best_rival"] = optional_number(r.times_best_rival);
  j["bytes_per_key"] = optional_number(r.bytes_per_key);
  j["own_bytes_per_key"] = r.own_bytes_per_key > 0 ? rounded(r.own_bytes_per_key) : json(nullptr);
  j["huge_pages_percent"] = optional_number(r.huge_pages_percent);
  j["latency_ns"] = latency_json(r.latency);
  j["windows"] = r.windows ? json_of_rates(*r.windows) : json(nullptr);
  if (!r.course.empty()) {
    j["course"] = json::array();
    for (const window_rates& stretch : r.course) j["course"].push_back(json_of_rates(stretch));
  }
  if (!r.timeline.empty()) {
    j["timeline"] = json::array();
    for (const sample& s : r.timeline)
      j["timeline"].push_back({{"ms", rounded(s.milliseconds)},
                               {"find_mops", rounded(s.find_mops)},
                               {"insert_mops", rounded(s.insert_mops)},
                               {"keys", s.keys}});
  }
  j["chapter"] = chapter_title;
  return j;
}

} // namespace

std::string point_of(const result& r, const std::vector<result>& among) { return name_of(r.what) + sizes_of(r, among); }

void print_machine(const machine_info& m) {
  console::print("{}, {} cores, {:.1f} GB memory, {:.0f} MB L3, {}, huge pages: {}, compiler {}\n", m.cpu, m.cores,
                 static_cast<double>(m.memory_bytes) * 1e-9, static_cast<double>(m.l3_bytes) / (1 << 20), m.kernel,
                 m.huge_pages, m.compiler);
  console::flush();
}

void print_results(const std::vector<result>& results) {
  const std::size_t first = point_width(results);
  const std::size_t width = engine_width(results);
  console::print("{:<{}} {:<{}} {:>8} {:>8} {:>8} {:>12} {:>10} {:>8}\n", "workload", first, "engine", width, "Mops/s",
                 "+-", "x limit", "x best rival", "bytes/key", "huge %");
  print_rule(61 + first + width);
  std::string last;
  for (const result& r : results) {
    const std::string point = point_of(r, results);
    console::print("{:<{}} {:<{}} {:>8} {:>8} {:>8} {:>12} {:>10} {:>8}\n", point == last ? "" : point, first,
                   shown_name(r.engine), width, fmt::format("{:.2f}", r.median_mops),
                   r.rounds_mops.size() > 1 ? fmt::format("{:.0f}%{}", r.spread * 100, is_doubtful(r) ? "!" : "") : "-",
                   times(r.times_limit), times(r.times_best_rival) + (is_uneven(r, results) ? "*" : ""),
                   figure(r.bytes_per_key.value_or(0)),
                   r.huge_pages_percent ? fmt::format("{:.0f}", *r.huge_pages_percent) : "-");
    last = point;
  }
  print_latencies(results);
  print_windows(results);
  console::flush();
}

void print_absences(const chapter& c) {
  for (const std::string& line : notes_of(c)) console::print("{}\n", line);
  for (const std::string& line : absences(c)) console::print("{}\n", line);
  console::flush();
}

void print_conclusion(const std::vector<chapter>& chapters) {
  const std::vector<comparison> all = compare(chapters);
  console::print("\nConclusion\n");
  for (const std::string& sentence : conclusion_of(all)) console::print("{}\n", sentence);
  std::string last;
  for (const comparison& c : all) {
    if (c.heading != last) console::print("{}\n", c.heading);
    last = c.heading;
    console::print("  {}: {}\n", name_of(c.what), line_of(c));
  }
  console::flush();
}

void print_files(const chapter& c) {
  std::vector<engine_id> told;
  for (const result& r : c.results) {
    if (r.domain.empty() || std::find(told.begin(), told.end(), r.engine) != told.end()) continue;
    told.push_back(r.engine);
    console::print("{}: domain {}; file in {}, {}\n", name_of(r.engine), r.domain, r.folder,
                   medium_of(r.folder) == "memory" ? "in memory" : "on a disk");
  }
  console::flush();
}

std::string json_of(const machine_info& m, std::uint64_t seed, const std::vector<chapter>& chapters) {
  json all;
  all["machine"] = {{"cpu", m.cpu},           {"cores", m.cores},   {"memory_bytes", m.memory_bytes},
                    {"l3_bytes", m.l3_bytes}, {"kernel", m.kernel}, {"huge_pages", m.huge_pages},
                    {"compiler", m.compiler}};
  all["seed"] = seed;
  all["results"] = json::array();
  for (const chapter& c : chapters)
    for (const result& r : c.results) all["results"].push_back(json_of_result(r, c.title));
  return all.dump(2) + "\n";
}

std::unique_ptr<kmer::output_file> open_output(const std::string& flag, const std::string& path) {
  try {
    return std::make_unique<kmer::output_file>(path);
  } catch (const kmer::bad_input& e) {
    throw bad_request(fmt::format("{} {}; give a file in a folder that exists and is yours", flag, e.what()));
  }
}

} // namespace bench
