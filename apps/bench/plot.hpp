// SPDX-License-Identifier: Apache-2.0
// A plot as data, and its drawing: gnuplot, run as a child process, turns it into SVG.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "result.hpp"

namespace bench {

struct series {
  std::string name;
  engine_id engine = engine_id::dlht; // chooses the colour, the same on every plot
  bool dashed = false;
  std::vector<std::pair<double, double>> points;
  std::size_t combination = 0; // of sizes: chooses the shade and, of a line, the dashes
};

struct plot {
  enum class form { lines, curve, bars, columns };
  std::string title, x_label, y_label;
  form drawn =
      form::lines; // lines have a mark at each point, curves none; bars at one x stand side by side, columns do not
  bool log_x = false, log_y = false;
  std::vector<std::pair<std::string, double>> x_names; // where x is not a number: what to write at which x
  double line_at = 0;                                  // a dashed line across at this y, if not 0
  double x_most = 0;                                   // where the x axis ends, if not 0
  std::vector<series> all;
};

// The plots of a chapter: one for each list that varies, timelines, percentiles, and bars of what none of them
// shows. Each engine has a line for each combination of what differs and is not the x axis.
std::vector<plot> plots_of(const chapter& c);

bool gnuplot_found();
// Throws std::runtime_error when gnuplot fails.
std::string svg_of(const plot& p);

} // namespace bench
