// SPDX-License-Identifier: Apache-2.0
// says: find_or_emplace copies the value, and this type cannot be copied: use try_emplace_or_visit
#include <cubby/map.hpp>

#include <memory>

bool create(cubby::map<int, std::unique_ptr<int>>& all) {
  return all.find_or_emplace(1, [] { return std::make_unique<int>(2); }).has_value();
}
