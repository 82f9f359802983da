// SPDX-License-Identifier: Apache-2.0
// says alone: modify changes a copy, and this type cannot be copied: use cubby::in_place_map
#include <memory>

#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>

bool change(cubby::map<int, std::unique_ptr<int>, cubby::iceberg>& all) {
  return all.modify(1, [](std::unique_ptr<int>& value) { value.reset(); });
}
