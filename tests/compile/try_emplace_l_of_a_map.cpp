// SPDX-License-Identifier: Apache-2.0
// shows: use try_emplace_or_visit(key, args..., f)
#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) {
  m.try_emplace_l(1, [](auto&) {}, 2);
}
