// SPDX-License-Identifier: Apache-2.0
// shows: use visit_while(f)
#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) {
  m.find_if([](const auto&) { return true; });
}
