// SPDX-License-Identifier: Apache-2.0
// says alone: the function of an update is called with the value and returns the new one: f(const V&) -> V
#include <cubby/map.hpp>

bool change(cubby::map<int, int>& all) {
  return all.update(1, [](const int&) {});
}
