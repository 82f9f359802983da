// SPDX-License-Identifier: Apache-2.0
// says alone: this call takes a key, then a function f(V&), and last what a new value is made of
#include <cubby/in_place_map.hpp>

bool change(cubby::in_place_map<int, int>& all) {
  return all.emplace_and_modify(1, [](int& v) { ++v; }, "one");
}
