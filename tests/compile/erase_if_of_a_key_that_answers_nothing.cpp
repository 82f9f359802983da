// SPDX-License-Identifier: Apache-2.0
// says alone: the predicate of erase_if(k, p) is called with the value and returns a bool: p(const V&) -> bool
#include <cubby/map.hpp>

bool take(cubby::map<int, int>& all) {
  return all.erase_if(1, [](const int&) {});
}
