// SPDX-License-Identifier: Apache-2.0
// shows: use visit_while(f)
#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) {
  m.cvisit_while([](const auto&) { return true; });
}
