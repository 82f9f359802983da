// SPDX-License-Identifier: Apache-2.0
// says alone: the function of a modify is called with the value, which it changes: f(V&)
#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>

bool change(cubby::map<int, int, cubby::iceberg>& all) {
  return all.modify(1, [](long& v) { ++v; });
}
