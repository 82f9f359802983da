// SPDX-License-Identifier: Apache-2.0
// says alone: the function of a modify is called with the value, which it changes: f(V&)
#include <cubby/in_place_map.hpp>

bool change(cubby::in_place_map<int, int>& all) {
  return all.insert_or_modify(1, 7, [](int& v) { ++v; });
}
