// SPDX-License-Identifier: Apache-2.0
// Samples the counters of a table that grows.
#include "table.hpp"

#include <algorithm>
#include <chrono>

#include "clock.hpp"
#include "table_of.hpp"

namespace bench {

namespace {

// The keys that an updater has left in the table after so many updates.
std::uint64_t left_by(std::uint64_t updates, std::uint64_t share) {
  if (share == 0) return 0;
  const std::uint64_t in_round = updates % (2 * share);
  return std::min(in_round, 2 * share - in_round);
}

} // namespace

std::vector<sample> sample_until(const std::atomic<bool>& stop, const std::vector<progress_count>& counts,
                                 const update_plan& plan) {
  std::vector<sample> samples;
  double begin = seconds_now(); // with the first slice of work that is seen: before it the workers get ready
  double last = begin;
  std::uint64_t updated = 0;
  std::uint64_t found = 0;
  while (!stop) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const double now = seconds_now();
    std::uint64_t updates = 0;
    std::uint64_t finds = 0;
    std::uint64_t keys = plan.filled;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::uint64_t done = counts[i].done.load(std::memory_order_relaxed); // only a figure
      const bool update = i < plan.shares.size();
      (update ? updates : finds) += done;
      if (update) keys += left_by(done, plan.shares[i]);
    }
    if (finds + updates == 0) {
      begin = last = now;
      continue;
    }
    const double scale = 1e-6 / (now - last);
    samples.push_back({(now - begin) * 1e3, static_cast<double>(finds - found) * scale,
                       static_cast<double>(updates - updated) * scale, static_cast<double>(keys)});
    last = now;
    updated = updates;
    found = finds;
  }
  // The last one reaches beyond the end of the work.
  if (samples.size() > 1) samples.pop_back();
  return samples;
}

std::vector<double> rates_of(const std::vector<std::vector<std::uint64_t>>& windows) {
  std::size_t whole = windows.front().size();
  for (const std::vector<std::uint64_t>& one : windows) whole = std::min(whole, one.size());
  std::vector<double> rates(whole == 0 ? 0 : whole - 1); // the last window ends with the thread
  for (std::size_t i = 0; i < rates.size(); ++i)
    for (const std::vector<std::uint64_t>& one : windows)
      rates[i] += static_cast<double>(one[i]) * windows_a_second * 1e-6;
  return rates;
}

} // namespace bench
