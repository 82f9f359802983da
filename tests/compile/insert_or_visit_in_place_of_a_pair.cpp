// SPDX-License-Identifier: Apache-2.0
// shows: use insert_or_modify(key, f, value)
#include <cubby/in_place_map.hpp>

void call(cubby::in_place_map<int, int>& m) {
  m.insert_or_visit({1, 2}, [](auto&) {});
}
