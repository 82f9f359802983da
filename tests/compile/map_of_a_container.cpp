// SPDX-License-Identifier: Apache-2.0
// shows: use map(range.begin(), range.end())
#include <unordered_map>

#include <cubby/map.hpp>

std::size_t load(const std::unordered_map<int, int>& from) {
  const cubby::map<int, int> all(from);
  return all.size();
}
