// SPDX-License-Identifier: Apache-2.0
// says alone: the function changes the value where it is, V& in and nothing out: what it returns would be lost
#include <cubby/in_place_map.hpp>

bool change(cubby::in_place_map<int, int>& all) {
  return all.modify(1, [](int& value) { return value + 1; });
}
