// SPDX-License-Identifier: Apache-2.0
// says: insert_batch copies values, and this type cannot be copied
#include <memory>
#include <span>

#include <cubby/map.hpp>

auto load(cubby::map<int, std::unique_ptr<int>>& all, std::span<const int> keys,
          std::span<const std::unique_ptr<int>> values, std::span<cubby::outcome> results) {
  return all.insert_batch(keys, values, results);
}
