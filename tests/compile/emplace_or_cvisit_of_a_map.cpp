// SPDX-License-Identifier: Apache-2.0
// shows: use try_emplace_or_visit(key, args..., f)
#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) {
  m.emplace_or_cvisit(1, 2, [](const auto&) {});
}
