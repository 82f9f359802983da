// SPDX-License-Identifier: Apache-2.0
#include "explore/judge.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "linearizability/checker.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

constexpr std::size_t most_lanes = 12; // threads, and lookups of batches
constexpr std::size_t most_keys = 16;

/// A key is absent, reserved, or has a value.
struct key_state {
  enum : std::uint8_t { absent, reserved, present } is = absent;
  std::uint64_t value = 0;
  auto operator<=>(const key_state&) const = default;
};

struct configuration {
  std::array<std::uint8_t, most_lanes> done{};
  std::array<key_state, most_keys> keys{};
  auto operator<=>(const configuration&) const = default;
};

std::vector<std::uint64_t> keys_in(const std::vector<lane>& lanes) {
  std::set<std::uint64_t> keys;
  for (const lane& l : lanes) {
    for (const event& e : l) {
      if (!e.is_snapshot) keys.insert(e.r.key);
    }
  }
  return {keys.begin(), keys.end()};
}

bool set_to(key_state& s, std::uint64_t value) {
  s = {key_state::present, value};
  return true;
}
bool clear(key_state& s) {
  s = {};
  return true;
}

/// Whether a call may have ended as it did in this state, which becomes the state afterwards.
bool carry_out(const event& e, key_state& s) {
  const record& r = e.r;
  const bool present = s.is == key_state::present;
  const bool absent = s.is == key_state::absent;
  switch (r.what) {
  case verb::find: return r.ok ? present && s.value == r.result : !present;
  case verb::insert: return r.ok ? absent && set_to(s, r.argument) : !absent;
  case verb::assign: return r.ok ? present && set_to(s, r.argument) : !present;
  case verb::erase: return e.either ? clear(s) : r.ok ? present && clear(s) : !present;
  case verb::add: return e.either && set_to(s, r.argument + (present ? s.value : 0));
  case verb::extract: return r.ok ? present && s.value == r.result && clear(s) : !present;
  case verb::insert_or_assign: return (e.either ? absent || present : r.ok ? absent : present) && set_to(s, r.argument);
  case verb::update: return r.ok ? present && s.value == r.result && set_to(s, r.argument) : !present;
  case verb::shadow_insert:
    if (!r.ok) return !absent;
    s.is = absent ? key_state::reserved : s.is;
    return absent;
  case verb::shadow_commit: return s.is == key_state::reserved && set_to(s, r.argument);
  case verb::shadow_abort: return s.is == key_state::reserved && clear(s);
  default: return false;
  }
}

bool shows(const event& e, const configuration& c, const std::vector<std::uint64_t>& keys) {
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const auto at =
        std::find_if(e.shown.begin(), e.shown.end(), [&](const entry& one) { return one.first == keys[k]; });
    const bool present = c.keys[k].is == key_state::present;
    if (present != (at != e.shown.end()) || (present && at->second != c.keys[k].value)) return false;
  }
  return true;
}

/// Adds what may follow `c`: the next call of each lane that no finished call of another lane comes before.
void extend(const configuration& c, const std::vector<lane>& lanes, const std::vector<std::uint64_t>& keys,
            std::vector<configuration>& next) {
  std::uint64_t first_return = ~std::uint64_t{0};
  for (std::size_t t = 0; t < lanes.size(); ++t) {
    if (c.done[t] < lanes[t].size()) first_return = std::min(first_return, lanes[t][c.done[t]].r.returned);
  }
  for (std::size_t t = 0; t < lanes.size(); ++t) {
    if (c.done[t] == lanes[t].size()) continue;
    const event& e = lanes[t][c.done[t]];
    if (e.r.called > first_return) continue;
    configuration after = c;
    ++after.done[t];
    if (e.is_snapshot) {
      if (shows(e, c, keys)) next.push_back(after);
      continue;
    }
    const auto k = std::lower_bound(keys.begin(), keys.end(), e.r.key) - keys.begin();
    if (carry_out(e, after.keys[static_cast<std::size_t>(k)])) next.push_back(after);
  }
}

std::string tell(const std::vector<lane>& lanes) {
  std::string text;
  for (std::size_t t = 0; t < lanes.size(); ++t) {
    for (const event& e : lanes[t]) {
      text += "  lane " + std::to_string(t) + " [" + std::to_string(e.r.called) + ", " + std::to_string(e.r.returned) +
              "] " + (e.is_snapshot ? "snapshot" : "verb " + std::to_string(static_cast<int>(e.r.what))) + " key " +
              std::to_string(e.r.key) + " argument " + std::to_string(e.r.argument) + " result " +
              std::to_string(e.r.result) + (e.r.ok ? " ok" : " not ok");
      for (const entry& one : e.shown) text += " " + std::to_string(one.first) + "=" + std::to_string(one.second);
      text += "\n";
    }
  }
  return text;
}

/// The records of a history for the checker by keys. False when it cannot take it: it wants a thread's calls on a key
/// one behind the other, and to know what each did.
bool records_of(const std::vector<lane>& lanes, std::vector<record>& out) {
  const auto keys = keys_in(lanes);
  for (const lane& l : lanes) {
    for (const event& e : l) {
      if (e.either) return false;
      if (!e.is_snapshot) out.push_back(e.r);
      for (std::size_t k = 0; e.is_snapshot && k < keys.size(); ++k) {
        record r = e.r;
        r.what = verb::find;
        r.key = keys[k];
        r.ok = false;
        for (const entry& one : e.shown) {
          if (one.first != r.key) continue;
          r.ok = true;
          r.result = one.second;
        }
        out.push_back(r);
      }
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (out[i].thread == out[j].thread && out[i].key == out[j].key && out[i].called == out[j].called) return false;
    }
  }
  return true;
}

std::string opinion_on(const std::vector<lane>& lanes) {
  bool whole = false;
  for (const lane& l : lanes) {
    for (const event& e : l) whole |= e.is_snapshot || e.in_batch || e.either;
  }
  std::vector<record> records;
  if (records_of(lanes, records)) {
    const finding f = check_history(records);
    if (f.what == judgement::refused) return f.text;
    if (f.what == judgement::not_checked) return "not checked: " + f.text;
  } else if (!whole) {
    return "not checked: a history that nobody can take\n" + tell(lanes);
  }
  return whole ? check_as_a_whole(lanes) : std::string();
}

} // namespace

std::string check_as_a_whole(const std::vector<lane>& lanes) {
  const auto keys = keys_in(lanes);
  if (keys.size() > most_keys || lanes.size() > most_lanes) return "not checked: too many keys or lanes";
  std::size_t total = 0;
  for (const lane& l : lanes) total += l.size();
  std::vector<configuration> level(1), next;
  for (std::size_t n = 0; n < total; ++n) {
    next.clear();
    for (const configuration& c : level) extend(c, lanes, keys, next);
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    if (next.empty()) return "no order explains all calls together:\n" + tell(lanes);
    level.swap(next);
  }
  return {};
}

judge::digest judge::digest_of(const std::vector<lane>& lanes) {
  digest d;
  const auto add = [&d](std::uint64_t x) {
    d.low = splitmix(d.low ^ x);
    d.high = splitmix(d.high + (x * 0x9e3779b97f4a7c15u ^ d.low));
  };
  for (const lane& l : lanes) {
    add(l.size());
    for (const event& e : l) {
      for (const std::uint64_t x : {e.r.called, e.r.returned, e.r.key, e.r.argument, e.r.result}) add(x);
      add(static_cast<std::uint64_t>(e.r.what) * 16 + (e.r.ok ? 1 : 0) + (e.either ? 2 : 0) + (e.in_batch ? 4 : 0) +
          (e.is_snapshot ? 8 : 0));
      for (const entry& one : e.shown) add(one.first), add(one.second);
    }
  }
  return d;
}

const std::string& judge::operator()(const std::vector<lane>& lanes) {
  const digest d = digest_of(lanes);
  const auto at = known_.find(d);
  if (at != known_.end()) return at->second;
  return known_.emplace(d, opinion_on(lanes)).first->second;
}

} // namespace cubby_test
