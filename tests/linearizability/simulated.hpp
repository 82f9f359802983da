// SPDX-License-Identifier: Apache-2.0
// Histories without a table: threads simulated over plain variables, so that an order exists and is known.
#pragma once

#include <algorithm>
#include <vector>

#include "linearizability/history.hpp"
#include "support/random.hpp"

namespace cubby_test {

/// Each call takes effect at one point inside its interval; on average some calls of each other thread overlap it.
inline std::vector<record> simulated(random_source& random, std::size_t count, unsigned threads, std::size_t keys = 1) {
  struct variable {
    bool present = false;
    std::uint64_t value = 0;
  };
  std::vector<record> history;
  history.reserve(count);
  std::vector<std::uint64_t> busy_until(threads, 0);
  std::vector<variable> table(keys);
  std::uint64_t now = 10;
  for (std::size_t i = 0; i < count; ++i, now += 10) {
    record r;
    r.thread = static_cast<std::uint16_t>(random.below(threads));
    r.key = random.below(keys);
    variable& v = table[r.key];
    r.what = static_cast<verb>(random.below(7));
    r.argument = i + 1;
    r.result = v.present ? v.value : 0;
    r.ok = (r.what == verb::insert || r.what == verb::insert_or_assign) ? !v.present : v.present;
    const bool writes = r.what == verb::insert ? r.ok : r.what == verb::insert_or_assign;
    const bool replaces = r.ok && (r.what == verb::assign || r.what == verb::update);
    if (r.ok && (r.what == verb::erase || r.what == verb::extract)) v.present = false;
    if (writes || replaces) v = {true, r.argument};
    r.called = std::max(busy_until[r.thread], now - random.below(std::min<std::uint64_t>(now, 60)));
    if (r.called > now) r.called = now;
    r.returned = now + random.below(5);
    busy_until[r.thread] = r.returned;
    history.push_back(r);
  }
  return history;
}

} // namespace cubby_test
