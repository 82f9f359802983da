// SPDX-License-Identifier: Apache-2.0
// says: and pairs with values go to insert_range
#include <utility>
#include <vector>

#include <cubby/map.hpp>

auto insert(cubby::map<int, int>& all, const std::vector<std::pair<int, int>>& entries) {
  return all.insert_batch(entries);
}
