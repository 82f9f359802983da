// SPDX-License-Identifier: Apache-2.0
// The checker. A configuration is the count of linearized records of each thread and the state that they lead to; level
// n holds every configuration with n records linearized. An empty level before the last record refuses the history.
#include "linearizability/checker.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

namespace cubby_test {
namespace {

constexpr std::size_t max_threads = 8;
constexpr std::array<const char*, verb_count> names = {
    "find", "insert", "assign", "erase", "extract", "insert_or_assign", "update", "shadow_insert", "commit", "abort"};

enum class presence : std::uint8_t { absent, reserved, present };

struct key_state {
  presence is = presence::absent;
  std::uint64_t value = 0;
  auto operator<=>(const key_state&) const = default;
};

struct configuration {
  std::array<std::uint32_t, max_threads> done{};
  key_state state;
  auto operator<=>(const configuration&) const = default;
};

using lanes = std::array<std::vector<record>, max_threads>;

bool become(key_state& s, presence is, std::uint64_t value) {
  s = {is, value};
  return true;
}

/// Whether `r` may have ended as it did in state `s`, which becomes the state afterwards.
bool apply(key_state& s, const record& r) {
  const bool absent = s.is == presence::absent;
  const bool present = s.is == presence::present;
  const bool reserved = s.is == presence::reserved;
  switch (r.what) {
  case verb::find: return r.ok ? present && s.value == r.result : !present;
  case verb::insert: return r.ok ? absent && become(s, presence::present, r.argument) : !absent;
  case verb::assign: return r.ok ? present && become(s, presence::present, r.argument) : !present;
  case verb::erase: return r.ok ? present && become(s, presence::absent, 0) : !present;
  case verb::extract: return r.ok ? present && s.value == r.result && become(s, presence::absent, 0) : !present;
  case verb::insert_or_assign: return (r.ok ? absent : present) && become(s, presence::present, r.argument);
  case verb::update:
    return r.ok ? present && s.value == r.result && become(s, presence::present, r.argument) : !present;
  case verb::shadow_insert: return r.ok ? absent && become(s, presence::reserved, 0) : !absent;
  case verb::shadow_commit: return reserved && become(s, presence::present, r.argument);
  case verb::shadow_abort: return reserved && become(s, presence::absent, 0);
  }
  return false;
}

std::string describe(const record& r, std::uint64_t origin) {
  std::string text = "  thread " + std::to_string(r.thread) + " [" + std::to_string(r.called - origin) + ", " +
                     std::to_string(r.returned - origin) + "] ";
  text += names[static_cast<std::size_t>(r.what)];
  text += " argument " + std::to_string(r.argument) + " result " + std::to_string(r.result);
  return text + (r.ok ? " ok\n" : " not ok\n");
}

std::string explain(const std::vector<configuration>& last, const lanes& all, std::uint64_t key) {
  std::string text = "no order explains key " + std::to_string(key) + "; where the search ended:\n";
  std::uint64_t origin = ~std::uint64_t{0};
  for (const auto& lane : all) {
    if (!lane.empty()) origin = std::min(origin, lane.front().called);
  }
  for (std::size_t i = 0; i < last.size() && i < 3; ++i) {
    const configuration& c = last[i];
    const char* is = c.state.is == presence::present  ? "present"
                     : c.state.is == presence::absent ? "absent"
                                                      : "reserved";
    text += std::string(" state ") + is + " " + std::to_string(c.state.value) + ", done and next of each thread:\n";
    for (std::size_t t = 0; t < max_threads; ++t) {
      const std::size_t at = c.done[t];
      for (std::size_t j = at < 3 ? 0 : at - 3; j < at; ++j) text += describe(all[t][j], origin);
      if (at < all[t].size()) text += " next" + describe(all[t][at], origin);
    }
  }
  return text;
}

/// A lane must be one thread's calls in their order.
bool well_formed(const std::vector<record>& lane) {
  for (std::size_t i = 0; i < lane.size(); ++i) {
    if (lane[i].returned < lane[i].called) return false;
    if (i > 0 && lane[i].called < lane[i - 1].returned) return false;
  }
  return true;
}

void extend(const configuration& c, const lanes& all, std::vector<configuration>& next) {
  std::uint64_t first_return = ~std::uint64_t{0};
  for (std::size_t t = 0; t < max_threads; ++t) {
    if (c.done[t] < all[t].size()) first_return = std::min(first_return, all[t][c.done[t]].returned);
  }
  for (std::size_t t = 0; t < max_threads; ++t) {
    if (c.done[t] == all[t].size()) continue;
    const record& r = all[t][c.done[t]];
    if (r.called > first_return) continue; // another call had returned before: it comes first
    configuration after = c;
    if (!apply(after.state, r)) continue;
    ++after.done[t];
    next.push_back(after);
  }
}

finding check_key(std::uint64_t key, lanes& all, const check_limits& limits) {
  std::size_t total = 0;
  for (auto& lane : all) {
    std::sort(lane.begin(), lane.end(), [](const record& a, const record& b) {
      return std::tie(a.called, a.returned) < std::tie(b.called, b.returned);
    });
    if (!well_formed(lane)) return {judgement::not_checked, key, "a thread's calls overlap"};
    total += lane.size();
  }
  if (total > limits.records_per_key) return {judgement::not_checked, key, "too many records for one key"};
  std::vector<configuration> level(1), next;
  for (std::size_t n = 0; n < total; ++n) {
    next.clear();
    for (const auto& c : level) extend(c, all, next);
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    if (next.empty()) return {judgement::refused, key, explain(level, all, key)};
    if (next.size() > limits.states_at_once) return {judgement::not_checked, key, "too many states at once"};
    level.swap(next);
  }
  return {judgement::linearizable, key, {}};
}

} // namespace

finding check_history(std::span<const record> history, const check_limits& limits) {
  std::map<std::uint64_t, lanes> keys;
  for (const record& r : history) {
    if (r.thread >= max_threads) return {judgement::not_checked, r.key, "too many threads"};
    keys[r.key][r.thread].push_back(r);
  }
  for (auto& [key, all] : keys) {
    finding f = check_key(key, all, limits);
    if (f.what != judgement::linearizable) return f;
  }
  return {};
}

} // namespace cubby_test
