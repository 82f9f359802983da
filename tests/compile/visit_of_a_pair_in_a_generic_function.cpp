// SPDX-License-Identifier: Apache-2.0
// mentions: is_called_with_the_value_alone
#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) {
  m.visit(1, [](auto& x) { ++x.second; });
}
