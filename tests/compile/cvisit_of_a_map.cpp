// SPDX-License-Identifier: Apache-2.0
// shows: use visit(key, f), which shows a const value
#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) {
  m.cvisit(1, [](const auto&) {});
}
