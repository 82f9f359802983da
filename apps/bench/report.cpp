// SPDX-License-Identifier: Apache-2.0
// Writes index.html: text, plots and tables, without a reference to anything outside itself.
#include "report.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fmt/core.h>

#include "absence.hpp"
#include "conclusion.hpp"
#include "descriptions.hpp"
#include "output.hpp"
#include "plot.hpp"

namespace bench {

namespace {

constexpr const char* head = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>cubby bench</title>
<style>
body { font: 16px/1.5 sans-serif; color: #222; background: #fff; max-width: 84rem; margin: 0 auto; padding: 1rem 2rem 4rem }
h1 { font-size: 1.7rem } h2 { font-size: 1.3rem; margin-top: 3rem; border-top: 1px solid #ccc; padding-top: 1rem }
p { max-width: 52rem }
pre { background: #f4f4f4; padding: .6rem .8rem; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 34rem), 1fr)); gap: 1rem }
.plots figure { margin: 0; max-width: 48rem } .plots svg { width: 100%; height: auto }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; margin: .5rem 0 }
th, td { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid #eee }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left }
tr.first td { border-top: 1px solid #aaa } tr.dlht td { font-weight: 600 }
tr.doubtful td:nth-child(4), b.mark { color: #a40000; font-weight: 600 }
.conclusion > p { font-size: 1.15rem } .conclusion li { margin: .3rem 0; max-width: 60rem }
.conclusion figure { margin: 1rem 0; max-width: 60rem; overflow-x: auto } .conclusion svg { width: 100%; min-width: 38rem; height: auto }
table.engines td { text-align: left; white-space: normal }
summary { cursor: pointer } nav a { margin-right: .8rem; display: inline-block } .scroll { overflow-x: auto }
</style></head><body>
)";

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&') safe += "&amp;";
    else if (c == '<') safe += "&lt;";
    else if (c == '>') safe += "&gt;";
    else if (c == '"') safe += "&quot;";
    else safe += c;
  }
  return safe;
}

std::string ratio(const std::optional<double>& value) { return value ? fmt::format("{:.2f}", *value) : "–"; }

std::string time_cell(double nanoseconds) {
  if (nanoseconds >= 1e6) return fmt::format("{:.2f} ms", nanoseconds * 1e-6);
  return nanoseconds >= 1e4 ? fmt::format("{:.1f} µs", nanoseconds * 1e-3) : fmt::format("{:.0f} ns", nanoseconds);
}

std::string row_of(const result& r, const chapter& c, const std::string& point, bool first) {
  const bool doubtful = is_doubtful(r);
  const std::string classes =
      std::string(first ? "first " : "") + (r.engine == engine_id::dlht ? "dlht " : "") + (doubtful ? "doubtful" : "");
  std::string row =
      fmt::format("<tr class=\"{}\"><td>{}</td><td>{}</td><td>{:.2f}</td><td>{}</td><td>{}</td>"
                  "<td>{}</td><td>{}</td><td>{}</td>",
                  classes, first ? escaped(point) : "", name_of(r.engine), r.median_mops,
                  r.rounds_mops.size() > 1 ? fmt::format("{:.0f} %{}", r.spread * 100, doubtful ? " !" : "") : "–",
                  ratio(r.times_limit), ratio(r.times_best_rival) + (is_uneven(r, c.results) ? " *" : ""),
                  r.bytes_per_key ? fmt::format("{:.1f}", *r.bytes_per_key) : "–",
                  r.huge_pages_percent ? fmt::format("{:.0f} %", *r.huge_pages_percent) : "–");
  if (c.run.latency) {
    const latency_figures f = r.latency.value_or(latency_figures{});
    for (const double ns : {f.p50, f.p99, f.p999, f.p9999, f.longest})
      row += fmt::format("<td>{}</td>", r.latency ? time_cell(ns) : "–");
  }
  return row + "</tr>\n";
}

std::string table_of_results(const chapter& c) {
  std::string html = "<div class=\"scroll\"><table><tr><th>workload</th><th>engine</th><th>Mops/s</th><th>spread</th>"
                     "<th>× limit</th><th>× best rival</th><th>bytes/key</th><th>huge pages</th>";
  if (c.run.latency) html += "<th>p50</th><th>p99</th><th>p99.9</th><th>p99.99</th><th>longest</th>";
  html += "</tr>\n";
  std::string last;
  for (const result& r : c.results) {
    const std::string point = point_of(r, c.results);
    html += row_of(r, c, point, point != last);
    last = point;
  }
  return html + "</table></div>\n";
}

std::string chapter_html(const chapter& c, std::size_t number) {
  std::string html = fmt::format("<h2 id=\"c{}\">{}</h2>\n<p>{}</p>\n<div class=\"plots\">\n", number,
                                 escaped(heading_of(c)), escaped(c.says));
  for (const plot& p : plots_of(c))
    html += fmt::format("<figure role=\"img\" aria-label=\"{}\">{}</figure>\n", escaped(p.title), svg_of(p));
  html += "</div>\n";
  for (const std::string& line : notes_of(c))
    html += fmt::format("<p><b class=\"mark\">{}</b>{}</p>\n", line.substr(0, 1), escaped(line.substr(1)));
  for (const std::string& line : absences(c)) html += fmt::format("<p>{}</p>\n", escaped(line));
  html += fmt::format("<p>Measure and draw it again:</p>\n<pre>{} --report DIR</pre>\n", escaped(command_of(c.run)));
  return html + fmt::format("<details{}><summary>All figures</summary>\n{}</details>\n",
                            c.results.size() <= 30 ? " open" : "", table_of_results(c));
}

std::string exhibit_html(const exhibit& e) {
  return fmt::format(
      "<h2 id=\"last\">{}</h2>\n<p>{}</p>\n<div class=\"plots\">\n<figure role=\"img\" aria-label=\"{}\">{}"
      "</figure>\n</div>\n<p>Count it again:</p>\n<pre>{}</pre>\n",
      escaped(e.title), escaped(e.says), escaped(e.drawn.title), svg_of(e.drawn), escaped(e.command));
}

std::string conclusion_html(const std::vector<comparison>& all) {
  std::string html = "<div class=\"conclusion\" id=\"conclusion\">\n<p>";
  for (const std::string& sentence : conclusion_of(all)) html += escaped(sentence) + " ";
  html += "</p>\n";
  if (const std::optional<plot> p = summary_of(all))
    html += fmt::format("<figure class=\"summary\" role=\"img\" aria-label=\"{}\">{}</figure>\n", escaped(p->title),
                        svg_of(*p));
  std::string last;
  for (const comparison& c : all) {
    if (c.heading != last)
      html += fmt::format("{}<p><b>{}</b></p>\n<ul>\n", last.empty() ? "" : "</ul>\n", escaped(c.heading));
    last = c.heading;
    html += fmt::format("<li><b>{}</b>: {}</li>\n", name_of(c.what), escaped(line_of(c)));
  }
  return html + (last.empty() ? "</div>\n" : "</ul>\n</div>\n");
}

std::string engines_html(const std::vector<chapter>& chapters) {
  std::vector<engine_id> told;
  std::string html = "<h2 id=\"engines\">The engines</h2>\n<div class=\"scroll\"><table class=\"engines\">\n";
  for (const chapter& c : chapters)
    for (const result& r : c.results) {
      if (std::find(told.begin(), told.end(), r.engine) != told.end()) continue;
      told.push_back(r.engine);
      html += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", name_of(r.engine),
                          escaped(std::string(description_of(r.engine))));
    }
  return html + "</table></div>\n";
}

std::string machine_html(const machine_info& m) {
  const std::time_t now = std::time(nullptr);
  char date[32] = "";
  std::tm utc{};
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", ::gmtime_r(&now, &utc));
  return fmt::format("<p>{}, {} cores, {:.1f} GB of memory, {:.0f} MB L3, {}, transparent huge pages: {}, compiler {}. "
                     "Measured {}.</p>\n",
                     escaped(m.cpu), m.cores, static_cast<double>(m.memory_bytes) * 1e-9,
                     static_cast<double>(m.l3_bytes) / (1 << 20), escaped(m.kernel), escaped(m.huge_pages),
                     escaped(m.compiler), date);
}

} // namespace

void check_report(const std::string& folder) {
  if (!gnuplot_found())
    throw bad_request(
        "--report: gnuplot is not installed and draws the plots; install gnuplot-nox, or leave --report out");
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw bad_request(
        fmt::format("--report '{}': cannot be made ({}); give a folder that is yours", folder, failed.message()));
  (void)open_output("--report", folder + "/index.html");
}

void write_report(const std::string& folder, const machine_info& machine, const std::vector<chapter>& chapters,
                  const std::optional<exhibit>& last) {
  std::string html = head;
  html += "<h1>cubby bench</h1>\n" + conclusion_html(compare(chapters)) + machine_html(machine);
  html +=
      "<p>Engines took turns in every round; a figure is the median of the rounds. <b>limit</b> is the machine: the "
      "same random lines fetched raw with the same batch, page size and threads; of read sections, the load alone. The "
      "rivals are boost, tbb, cuckoo and lfht, and what is named with them; of read sections, the flavours of liburcu. "
      "Bytes per key is the growth of "
      "resident memory when the table was filled.</p>\n<nav><a href=\"#engines\">The engines</a>";
  for (std::size_t i = 0; i < chapters.size(); ++i)
    html += fmt::format("<a href=\"#c{}\">{}</a>", i, escaped(heading_of(chapters[i])));
  if (last) html += fmt::format("<a href=\"#last\">{}</a>", escaped(last->title));
  html += "</nav>\n" + engines_html(chapters);
  for (std::size_t i = 0; i < chapters.size(); ++i) html += chapter_html(chapters[i], i);
  if (last) html += exhibit_html(*last);
  const auto page = open_output("--report", folder + "/index.html");
  page->write(html + "</body></html>\n");
  page->commit();
}

} // namespace bench
