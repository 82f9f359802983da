// SPDX-License-Identifier: Apache-2.0
// mentions: is_called_with_the_value_alone
#include <cubby/in_place_map.hpp>

void call(cubby::in_place_map<int, int>& m) {
  m.modify(1, [](auto& x) { ++x.second; });
}
