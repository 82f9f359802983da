// SPDX-License-Identifier: Apache-2.0
// says: this engine gives no entry to one caller alone; use update, or cubby::in_place_map
#include <cubby/map.hpp>

bool change(cubby::map<int, int>& all) {
  return all.modify(1, [](int& value) { ++value; });
}
