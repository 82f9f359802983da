// SPDX-License-Identifier: Apache-2.0
// shows: values change in place: use modify, emplace_and_modify or erase_if(key, p)
#include <cubby/in_place_map.hpp>

void change(cubby::in_place_map<int, int>& m) {
  m.compute(1, [](const int*) -> cubby::computed<int> { return 2; });
}
