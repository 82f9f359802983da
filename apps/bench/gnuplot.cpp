// SPDX-License-Identifier: Apache-2.0
// Writes a gnuplot script with its data, runs gnuplot on it, and takes the SVG from its output.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fmt/core.h>
#include <memory>
#include <spawn.h>
#include <stdexcept>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include "plot.hpp"

namespace bench {

namespace {

// Colours that people with any colour vision can tell apart (Okabe and Ito), by engine. Those of read sections are some of the
// tables' over again: no plot has both.
constexpr auto colours = std::to_array<const char*>(
    {"#0072b2", "#56b4e9", "#e69f00", "#882255", "#8b6914", "#999999", "#d55e00", "#009e73", "#cc79a7",
     "#004d40", "#000000", "#999933", "#aa3377", "#333333", "#661100", "#0072b2", "#56b4e9", "#d55e00",
     "#009e73", "#cc79a7", "#f0a3c0", "#5d8a3a", "#7a5195", "#b07d62", "#117733", "#44aa99", "#cc3311",
     "#ddaa33", "#332288", "#6699cc", "#994455", "#aa4499", "#225522"});
constexpr auto marks = std::to_array<int>(
    {7, 6, 8, 10, 3, 2, 5, 9, 13, 11, 4, 12, 1, 14, 15, 7, 6, 5, 9, 13, 12, 10, 1, 3, 4, 8, 5, 9, 13, 7, 11, 2, 6});
static_assert(colours.size() == named_engine_count && marks.size() == named_engine_count);

// Engines beyond the named ones take turns with the same colours.
std::size_t style_number(engine_id engine) { return static_cast<std::size_t>(engine) % named_engine_count; }

// The colour of its engine, the lighter the later its combination comes.
std::string colour_of(const plot& p, const series& s) {
  std::size_t last = 0;
  for (const series& other : p.all) last = std::max(last, other.combination);
  const double white = last == 0 ? 0 : 0.5 * static_cast<double>(s.combination) / static_cast<double>(last);
  const unsigned long base = std::strtoul(colours[style_number(s.engine)] + 1, nullptr, 16);
  std::string text = "#";
  for (const unsigned shift : {16U, 8U, 0U}) {
    const auto part = static_cast<double>(base >> shift & 255U);
    text += fmt::format("{:02x}", static_cast<unsigned>(part + (255 - part) * white));
  }
  return text;
}

// Without 2, which stands for `dashed`.
constexpr std::array<int, 4> dashes = {1, 4, 5, 3};

std::string style_of(const plot& p, const series& s) {
  const bool marked = p.drawn == plot::form::lines;
  const std::string line =
      fmt::format("{} lc rgb '{}' lw {} dt {}", marked ? "linespoints" : "lines", colour_of(p, s),
                  s.engine == engine_id::dlht ? 3 : 2, s.dashed ? 2 : dashes[s.combination % dashes.size()]);
  return marked ? line + fmt::format(" pt {} ps 0.7", marks[style_number(s.engine)]) : line;
}

// A percent sign would begin a format in the label of a tick.
std::string tick_label(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '%' ? "%%" : std::string(1, c);
  return safe;
}

std::string names_of_x(const plot& p) {
  std::string list;
  for (const auto& [name, at] : p.x_names)
    list += fmt::format("{}'{}' {}", list.empty() ? "" : ", ", tick_label(name), at);
  return list;
}

std::vector<double> measured_x(const plot& p) {
  std::vector<double> values;
  for (const series& s : p.all)
    for (const auto& [x, y] : s.points) values.push_back(x);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// A tick at each x that was measured, rather than at round numbers between, and little space beside them.
std::string measured_axis(const plot& p) {
  const std::vector<double> values = measured_x(p);
  std::string list;
  for (const double x : values) {
    const std::string label = x >= 1e6   ? fmt::format("{:g}M", x / 1e6)
                              : x >= 1e4 ? fmt::format("{:g}k", x / 1e3)
                                         : fmt::format("{:g}", x);
    list += fmt::format("{}'{}' {}", list.empty() ? "" : ", ", label, x);
  }
  const double low = values.front();
  const double high = values.back();
  const double beside = p.log_x ? std::pow(high / low, 0.04) : (high - low) * 0.04;
  return fmt::format("set xtics ({})\nset xrange [{}:{}]\n", list, p.log_x ? low / beside : low - beside,
                     p.log_x ? high * beside : high + beside);
}

// As large as the legend wants beside a plot of the usual size: gnuplot sets it in two columns where it finds no space for one, and
// squeezes the plot. And as wide as the names along x want.
std::string canvas_of(const plot& p) {
  std::size_t longest = 0;
  for (const series& s : p.all) longest = std::max(longest, s.name.size());
  const std::size_t beyond = std::max<std::size_t>(p.x_names.size(), 8) - 8;
  const std::size_t each = p.drawn == plot::form::columns ? 24 : 60;
  const std::size_t width = 640 + 7 * (std::max<std::size_t>(longest, 20) - 20) + each * beyond;
  const std::size_t height = std::max<std::size_t>(360, 120 + 18 * p.all.size());
  return fmt::format("set terminal svg size {},{} dynamic font 'sans-serif,12' background '#ffffff'\n", width, height);
}

std::string head_of(const plot& p) {
  std::string text =
      canvas_of(p) +
      "set encoding utf8\nset key outside right top reverse Left samplen 2\nset grid ytics lc rgb '#dddddd'\n"
      "set border 3\nset tics nomirror\n";
  text += fmt::format("set title '{}'\nset xlabel '{}'\nset ylabel '{}'\n", p.title, p.x_label, p.y_label);
  if (p.log_x) text += "set logscale x\n";
  if (p.x_most != 0) text += fmt::format("set xrange [0:{:g}]\n", p.x_most);
  text += p.log_y ? "set logscale y\nset format y '10^{%L}'\n" : "set yrange [0:*]\n";
  if (!p.x_names.empty())
    text += fmt::format("set xtics ({})\nset xrange [{}:{}]\n", names_of_x(p), -0.5,
                        static_cast<double>(p.x_names.size()) - 0.5);
  else if (p.drawn == plot::form::lines) text += measured_axis(p);
  if (p.drawn == plot::form::columns) text += "set xtics rotate by 45 right\n";
  if (p.line_at != 0)
    text += fmt::format("set arrow from graph 0, first {0} to graph 1, first {0} nohead lc rgb '#000000' dt 2 front\n",
                        p.line_at);
  return text;
}

std::string script_of(const plot& p) {
  std::string text = head_of(p);
  std::string draw = "plot ";
  const bool columns = p.drawn == plot::form::columns;
  const bool boxes = columns || p.drawn == plot::form::bars;
  const double width = 0.8 / static_cast<double>(columns ? 1 : std::max<std::size_t>(1, p.all.size()));
  for (std::size_t i = 0; i < p.all.size(); ++i) {
    const series& s = p.all[i];
    const double shift = columns ? 0 : (static_cast<double>(i) - (static_cast<double>(p.all.size()) - 1) / 2) * width;
    text += fmt::format("$data{} << END\n", i);
    for (const auto& [x, y] : s.points)
      text += boxes ? fmt::format("{} {} {}\n", x + shift, y, width * 0.9) : fmt::format("{} {}\n", x, y);
    text += "END\n";
    draw += i == 0 ? "" : ", ";
    if (boxes)
      draw += fmt::format("$data{} using 1:2:3 with boxes fs solid 0.85 noborder lc rgb '{}' title '{}'", i,
                          colour_of(p, s), s.name);
    else draw += fmt::format("$data{} using 1:2 with {} title '{}'", i, style_of(p, s), s.name);
  }
  return text + draw + "\n";
}

struct file_closer {
  void operator()(std::FILE* f) const { std::fclose(f); }
};

std::string read_all(int from) {
  std::string text;
  std::array<char, 65536> buffer;
  for (ssize_t n = ::read(from, buffer.data(), buffer.size()); n > 0; n = ::read(from, buffer.data(), buffer.size()))
    text.append(buffer.data(), static_cast<std::size_t>(n));
  ::close(from);
  return text;
}

// Runs gnuplot with `script` as its input and returns what it prints.
std::string run_gnuplot(const std::string& script) {
  const std::unique_ptr<std::FILE, file_closer> input(std::tmpfile());
  std::array<int, 2> out{};
  if (!input || ::pipe(out.data()) != 0) throw std::runtime_error("gnuplot: no temporary file or pipe can be made");
  std::fwrite(script.data(), 1, script.size(), input.get());
  std::rewind(input.get());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ::fileno(input.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, out[0]);
  posix_spawn_file_actions_addclose(&actions, out[1]);
  std::string name = "gnuplot";
  char* arguments[] = {name.data(), nullptr};
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, "gnuplot", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(out[1]);
  std::string text = read_all(out[0]);
  int status = 0;
  if (failed != 0 || ::waitpid(child, &status, 0) != child || status != 0)
    throw std::runtime_error("gnuplot: could not draw; try `gnuplot --version`");
  return text;
}

} // namespace

bool gnuplot_found() {
  const char* path = std::getenv("PATH");
  std::string_view left = path == nullptr ? "/usr/bin:/bin" : path;
  while (true) {
    const std::size_t colon = left.find(':');
    if (::access((std::string(left.substr(0, colon)) + "/gnuplot").c_str(), X_OK) == 0) return true;
    if (colon == std::string_view::npos) return false;
    left.remove_prefix(colon + 1);
  }
}

std::string svg_of(const plot& p) {
  std::string svg = run_gnuplot(script_of(p));
  // Inside a page the XML declaration and document type have no place.
  const std::size_t start = svg.find("<svg");
  if (start == std::string::npos) throw std::runtime_error("gnuplot: printed no SVG");
  return svg.substr(start);
}

} // namespace bench
