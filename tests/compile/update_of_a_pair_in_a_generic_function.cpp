// SPDX-License-Identifier: Apache-2.0
// mentions: is_called_with_the_value_alone
#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) {
  m.update(1, [](auto& x) { return ++x.second; });
}
