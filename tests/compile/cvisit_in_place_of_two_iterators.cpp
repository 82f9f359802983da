// SPDX-License-Identifier: Apache-2.0
// shows: use visit_batch(keys, f)
#include <cubby/in_place_map.hpp>

void call(cubby::in_place_map<int, int>& m) {
  const int keys[] = {1, 2};
  m.cvisit(keys, keys + 2, [](const auto&) {});
}
