// SPDX-License-Identifier: Apache-2.0
// shows: use insert_or_visit(key, value, f)
#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) {
  m.insert_or_visit({1, 2}, [](const auto&) {});
}
