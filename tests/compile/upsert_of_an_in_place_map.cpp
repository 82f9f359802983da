// SPDX-License-Identifier: Apache-2.0
// shows: use insert_or_modify or emplace_and_modify
#include <cubby/in_place_map.hpp>

void call(cubby::in_place_map<int, int>& m) {
  m.upsert(1, [](int& v) { ++v; }, 2);
}
