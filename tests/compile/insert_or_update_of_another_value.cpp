// SPDX-License-Identifier: Apache-2.0
// says alone: insert_or_update takes a key, then a function, and last what a new value is made of
#include <cubby/map.hpp>

bool change(cubby::map<int, int>& all) {
  return all.insert_or_update(1, [](const int& v) { return v + 1; }, "one");
}
