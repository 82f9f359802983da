// SPDX-License-Identifier: Apache-2.0
// says: std::vector<bool> and std::deque are none
#include <vector>

#include <cubby/set.hpp>

auto ask(const cubby::set<bool>& all, const std::vector<bool>& keys) {
  return all.visit_batch(keys, [](std::size_t, bool) {});
}
