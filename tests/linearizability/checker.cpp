// SPDX-License-Identifier: Apache-2.0
// The search. A configuration is the count of linearized records of each thread and the state that they lead to; level
// n holds every configuration with n records linearized. An empty level before the last record refuses the history.
// A thread's records are linearized in its order, and so are the requests of a batch.
#include "linearizability/checker.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <new>
#include <vector>

namespace cubby_test {
namespace {

constexpr std::size_t max_threads = 8;
constexpr std::array<const char*, verb_count> names = {
    "find",   "insert", "assign",   "erase", "extract", "insert_or_assign", "update", "shadow_insert",
    "commit", "abort",  "contains", "put",   "add"};
constexpr std::array<const char*, 5> ends = {"answered", "not executed", "no memory", "full", "unknown"};

enum class presence : std::uint8_t { absent, reserved, present };

struct key_state {
  presence is = presence::absent;
  std::uint64_t value = 0;
  auto operator<=>(const key_state&) const = default;
};

/// What is judged at once: one key, or a few. Records carry the key's place in `keys` instead of the key.
template <std::size_t Keys>
struct object {
  struct configuration {
    std::array<std::uint32_t, max_threads> done{};
    std::array<key_state, Keys> states;
    auto operator<=>(const configuration&) const = default;
  };
  std::vector<std::uint64_t> keys;
  std::array<std::vector<record>, max_threads> lanes; // of the threads that have called about these keys
  std::vector<std::uint16_t> threads;                 // of the lanes, one each; more than there are lanes: not checked

  /// The lane of a record's thread, or null: there are too many threads.
  std::vector<record>* lane_of(const record& r) {
    const auto at = std::find(threads.begin(), threads.end(), r.thread);
    const auto lane = static_cast<std::size_t>(at - threads.begin());
    if (at == threads.end()) threads.push_back(r.thread);
    return lane < max_threads ? &lanes[lane] : nullptr;
  }
};

bool become(key_state& s, presence is, std::uint64_t value) {
  s = {is, value};
  return true;
}

/// Whether `r`, which was answered, may have ended as it did in state `s`, which becomes the state afterwards.
bool apply_answer(key_state& s, const record& r) {
  const bool absent = s.is == presence::absent;
  const bool present = s.is == presence::present;
  const bool reserved = s.is == presence::reserved;
  switch (r.what) {
  case verb::find: return r.ok ? present && s.value == r.result : !present;
  case verb::contains: return r.ok == present;
  case verb::insert: return r.ok ? absent && become(s, presence::present, r.argument) : !absent;
  case verb::assign: return r.ok ? present && become(s, presence::present, r.argument) : !present;
  case verb::erase: return r.ok ? present && become(s, presence::absent, 0) : !present;
  case verb::extract: return r.ok ? present && s.value == r.result && become(s, presence::absent, 0) : !present;
  case verb::insert_or_assign: return (r.ok ? absent : present) && become(s, presence::present, r.argument);
  case verb::put: return !reserved && become(s, presence::present, r.argument);
  case verb::add:
    return (r.ok ? absent : present) && become(s, presence::present, r.argument + (present ? s.value : 0));
  case verb::update:
    return r.ok ? present && s.value == r.result && become(s, presence::present, r.argument) : !present;
  case verb::shadow_insert: return r.ok ? absent && become(s, presence::reserved, 0) : !absent;
  case verb::shadow_commit: return reserved && become(s, presence::present, r.argument);
  case verb::shadow_abort: return reserved && become(s, presence::absent, 0);
  }
  return false;
}

bool needs_memory(verb what) {
  switch (what) {
  case verb::find:
  case verb::contains:
  case verb::erase:
  case verb::shadow_commit:
  case verb::shadow_abort: return false;
  default: return true;
  }
}

bool may_fill(verb what) {
  return what == verb::insert || what == verb::insert_or_assign || what == verb::put || what == verb::add ||
         what == verb::shadow_insert;
}

bool apply(key_state& s, const record& r) {
  switch (r.how) {
  case status::answered: return apply_answer(s, r);
  case status::not_executed: return true;
  case status::no_memory: return needs_memory(r.what);
  case status::full: return may_fill(r.what) && s.is == presence::absent;
  case status::unknown: break;
  }
  return false;
}

template <std::size_t Keys>
std::string describe(const object<Keys>& o, const record& r, std::uint64_t origin) {
  std::string text = "  thread " + std::to_string(r.thread) + " [" + std::to_string(r.called - origin) + ", " +
                     std::to_string(r.returned - origin) + "] ";
  if (r.group != grouping::single) text += "#" + std::to_string(r.position) + " of a batch: ";
  text += names[static_cast<std::size_t>(r.what)];
  if (Keys > 1) text += " key " + std::to_string(o.keys[r.key]);
  text += " argument " + std::to_string(r.argument) + " result " + std::to_string(r.result);
  if (r.how != status::answered) return text + " " + ends[static_cast<std::size_t>(r.how)] + "\n";
  return text + (r.ok ? " ok\n" : " not ok\n");
}

std::string describe(const key_state& s) {
  if (s.is == presence::present) return " present " + std::to_string(s.value);
  return s.is == presence::absent ? " absent" : " reserved";
}

template <std::size_t Keys>
std::string explain(const std::vector<typename object<Keys>::configuration>& last, const object<Keys>& o) {
  std::string text = "no order explains key " + std::to_string(o.keys[0]) + (Keys > 1 ? " and others" : "") +
                     "; where the search ended:\n";
  std::uint64_t origin = ~std::uint64_t{0};
  for (const auto& lane : o.lanes) {
    if (!lane.empty()) origin = std::min(origin, lane.front().called);
  }
  for (std::size_t i = 0; i < last.size() && i < 3; ++i) {
    text += " state";
    for (std::size_t k = 0; k < o.keys.size(); ++k) text += describe(last[i].states[k]);
    text += ", done and next of each thread:\n";
    for (std::size_t t = 0; t < max_threads; ++t) {
      const std::size_t at = last[i].done[t];
      for (std::size_t j = at < 3 ? 0 : at - 3; j < at; ++j) text += describe(o, o.lanes[t][j], origin);
      if (at < o.lanes[t].size()) text += " next" + describe(o, o.lanes[t][at], origin);
    }
  }
  return text;
}

/// Whether `b`, the next record of a thread after `a`, is of the same group.
bool same_group(const record& a, const record& b) {
  return a.group != grouping::single && a.group == b.group && a.called == b.called && a.returned == b.returned &&
         a.position < b.position;
}

/// Null when a lane is one thread's requests in their order; else why it cannot be judged.
const char* flaw(const std::vector<record>& lane) {
  for (std::size_t i = 0; i < lane.size(); ++i) {
    if (lane[i].how == status::unknown) return "how a request ended is unknown";
    if (lane[i].returned < lane[i].called) return "a call ends before it begins";
    if (i == 0) continue;
    const bool together = same_group(lane[i - 1], lane[i]);
    if (together && lane[i].group == grouping::unordered) return "lookups of one unordered batch";
    if (!together && lane[i].called < lane[i - 1].returned) return "a thread's calls overlap";
  }
  return nullptr;
}

template <std::size_t Keys>
void extend(const typename object<Keys>::configuration& c, const object<Keys>& o,
            std::vector<typename object<Keys>::configuration>& next) {
  std::uint64_t first_return = ~std::uint64_t{0};
  for (std::size_t t = 0; t < max_threads; ++t) {
    if (c.done[t] < o.lanes[t].size()) first_return = std::min(first_return, o.lanes[t][c.done[t]].returned);
  }
  for (std::size_t t = 0; t < max_threads; ++t) {
    if (c.done[t] == o.lanes[t].size()) continue;
    const record& r = o.lanes[t][c.done[t]];
    if (r.called > first_return) continue; // another call had returned before: it comes first
    auto after = c;
    if (!apply(after.states[r.key], r)) continue;
    ++after.done[t];
    next.push_back(after);
  }
}

template <std::size_t Keys>
finding search(const object<Keys>& o, std::size_t total, const check_limits& limits) {
  std::vector<typename object<Keys>::configuration> level(1), next;
  for (std::size_t n = 0; n < total; ++n) {
    next.clear();
    for (const auto& c : level) extend<Keys>(c, o, next);
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    if (next.empty()) return {judgement::refused, o.keys[0], explain<Keys>(level, o)};
    if (next.size() > limits.states_at_once) return {judgement::not_checked, o.keys[0], "too many states at once"};
    level.swap(next);
  }
  return {judgement::linearizable, o.keys[0], {}};
}

template <std::size_t Keys>
finding judge(const object<Keys>& o, const check_limits& limits) {
  std::size_t total = 0;
  if (o.threads.size() > max_threads) return {judgement::not_checked, o.keys[0], "too many threads"};
  for (const auto& lane : o.lanes) {
    if (const char* const why = flaw(lane)) return {judgement::not_checked, o.keys[0], why};
    total += lane.size();
  }
  if (total > limits.records_per_key) return {judgement::not_checked, o.keys[0], "too many records for one key"};
  try {
    return search(o, total, limits);
  } catch (const std::bad_alloc&) {
    return {judgement::not_checked, o.keys[0], "no memory for the search"};
  }
}

/// Adds what one key came to.
void count(finding& all, finding one) {
  ++all.keys;
  all.keys_refused += one.what == judgement::refused ? 1 : 0;
  all.keys_not_checked += one.what == judgement::not_checked ? 1 : 0;
  const bool worse = all.what == judgement::linearizable
                         ? one.what != judgement::linearizable
                         : all.what == judgement::not_checked && one.what == judgement::refused;
  if (!worse) return;
  all.what = one.what;
  all.key = one.key;
  all.text = std::move(one.text);
}

/// Null when `batch`, in its order, ended as a batch may.
const char* batch_flaw(std::span<const record> batch) {
  bool stopped = false;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].position != i) return "a request is missing";
    const bool executed = batch[i].how != status::not_executed;
    if (executed && stopped) return "a request was executed behind the first failure";
    if (!executed && !stopped) return "a request was not executed, and none before it had failed";
    const bool done = batch[i].how == status::answered && batch[i].ok;
    stopped = stopped || (batch[i].group == grouping::stopping && !done);
  }
  return nullptr;
}

} // namespace

finding check_batches(std::span<const record> history) {
  std::map<std::uint16_t, std::vector<record>> threads;
  for (const record& r : history) {
    const bool may_stop = r.group == grouping::ordered || r.group == grouping::stopping;
    if (may_stop) threads[r.thread].push_back(r);
    else if (r.how == status::not_executed) return {judgement::refused, r.key, "not executed, outside any batch"};
  }
  for (const auto& [thread, lane] : threads) {
    for (std::size_t first = 0, last = 1; first < lane.size(); first = last++) {
      while (last < lane.size() && same_group(lane[last - 1], lane[last])) ++last;
      const char* const why = batch_flaw(std::span(lane).subspan(first, last - first));
      if (why != nullptr) return {judgement::refused, lane[first].key, why};
    }
  }
  return {};
}

finding check_history(std::span<const record> history, const check_limits& limits) {
  finding all = check_batches(history);
  if (all.what != judgement::linearizable) return all;
  std::map<std::uint64_t, object<1>> keys;
  for (const record& r : history) {
    object<1>& o = keys[r.key];
    if (o.keys.empty()) o.keys.push_back(r.key);
    std::vector<record>* const lane = o.lane_of(r);
    if (lane == nullptr) continue; // `judge` says so
    lane->push_back(r);
    lane->back().key = 0;
  }
  for (auto& [key, o] : keys) {
    count(all, judge(o, limits));
    o = {};
  }
  return all;
}

finding check_together(std::span<const record> history, const check_limits& limits) {
  finding all = check_batches(history);
  if (all.what != judgement::linearizable) return all;
  object<keys_together> o;
  for (const record& r : history) {
    auto at = std::find(o.keys.begin(), o.keys.end(), r.key);
    if (at == o.keys.end()) at = o.keys.insert(at, r.key);
    if (o.keys.size() > keys_together) return {judgement::not_checked, r.key, "too many keys"};
    std::vector<record>* const lane = o.lane_of(r);
    if (lane == nullptr) continue; // as above
    lane->push_back(r);
    lane->back().key = static_cast<std::uint64_t>(at - o.keys.begin());
  }
  if (!o.keys.empty()) count(all, judge(o, limits));
  return all;
}

} // namespace cubby_test
