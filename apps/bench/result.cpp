// SPDX-License-Identifier: Apache-2.0
// Medians, spreads and ratios.
#include "result.hpp"

#include <algorithm>
#include <fmt/core.h>

namespace bench {

namespace {

struct named_size {
  size_field of;
  const char* name;
};

constexpr named_size named_sizes[] = {{&result::keys, "keys"},
                                      {&result::threads, "threads"},
                                      {&result::batch, "batch"},
                                      {&result::key_size, "key"},
                                      {&result::value_size, "value"}};

// As a flag would take it.
std::string count_text(std::size_t n) {
  if (n == 0 || n % 1000 != 0) return fmt::format("{}", n);
  return n % 1'000'000 == 0 ? fmt::format("{}M", n / 1'000'000) : fmt::format("{}k", n / 1000);
}

window_rates rates_among(const double* first, std::size_t count, double milliseconds) {
  window_rates out{milliseconds, *first, 0, *first};
  for (std::size_t i = 0; i < count; ++i) {
    out.lowest = std::min(out.lowest, first[i]);
    out.highest = std::max(out.highest, first[i]);
    out.mean += first[i] / static_cast<double>(count);
  }
  return out;
}
constexpr double window_milliseconds = 1e3 / windows_a_second;

} // namespace

bool same_point(const result& a, const result& b) {
  return a.what.what == b.what.what && a.what.hot_percent == b.what.hot_percent && a.keys == b.keys &&
         a.batch == b.batch && a.key_size == b.key_size && a.value_size == b.value_size && a.text == b.text &&
         a.threads == b.threads;
}

bool differs(const std::vector<result>& among, size_field size) {
  const result* first = nullptr;
  for (const result& r : among) {
    if (size == &result::threads && r.engine == engine_id::std_map) continue; // has one for any number that was given
    if (r.*size == 0) continue;
    if (first == nullptr) first = &r;
    if (r.*size != first->*size) return true;
  }
  return false;
}

std::string sizes_of(const result& r, const std::vector<result>& among, size_field left_out) {
  std::string text;
  for (const named_size& size : named_sizes)
    if (size.of != left_out && r.*size.of != 0 && differs(among, size.of))
      text += fmt::format(" {}={}", size.name, count_text(r.*size.of));
  return text;
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::optional<window_rates> together(const std::vector<double>& windows) {
  if (windows.empty()) return {};
  return rates_among(windows.data(), windows.size(), window_milliseconds * static_cast<double>(windows.size()));
}

std::vector<window_rates> in_stretches(const std::vector<double>& windows, std::size_t most) {
  std::vector<window_rates> all;
  const std::size_t each = (windows.size() + most - 1) / most;
  for (std::size_t from = 0; from < windows.size(); from += each) {
    const std::size_t count = std::min(each, windows.size() - from);
    all.push_back(rates_among(&windows[from], count, window_milliseconds * static_cast<double>(from + count)));
  }
  return all;
}

void finish(std::vector<result>& results) {
  for (result& r : results) {
    if (!r.rounds_windows.empty()) {
      const auto median = [&r](double window_rates::* of) {
        std::vector<double> figures;
        for (const window_rates& round : r.rounds_windows) figures.push_back(round.*of);
        return median_of(figures);
      };
      r.windows = {median(&window_rates::milliseconds), median(&window_rates::lowest), median(&window_rates::mean),
                   median(&window_rates::highest)};
    }
    r.median_mops = median_of(r.rounds_mops);
    const auto [low, high] = std::minmax_element(r.rounds_mops.begin(), r.rounds_mops.end());
    if (low != r.rounds_mops.end() && r.median_mops > 0) r.spread = (*high - *low) / r.median_mops;
  }
  for (result& r : results) {
    double limit = 0;
    double best = 0;
    for (const result& other : results) {
      if (!same_point(r, other)) continue;
      if (other.engine == engine_id::limit) limit = other.median_mops;
      if (is_rival(other.engine)) best = std::max(best, other.median_mops);
    }
    if (limit > 0) r.times_limit = r.median_mops / limit;
    if (best > 0) r.times_best_rival = r.median_mops / best;
  }
}

} // namespace bench
