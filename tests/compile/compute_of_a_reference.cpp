// SPDX-License-Identifier: Apache-2.0
// says alone: the function of compute is called with the value, or null, and returns what to do: f(const V*) -> cubby::computed<V>
#include <cubby/map.hpp>

cubby::change change(cubby::map<int, int>& all) {
  return all.compute(1, [](const int&) { return cubby::action::keep; });
}
