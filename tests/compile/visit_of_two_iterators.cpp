// SPDX-License-Identifier: Apache-2.0
// shows: use visit_batch(keys, f)
#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) {
  const int keys[] = {1, 2};
  m.visit(keys, keys + 2, [](const auto&) {});
}
