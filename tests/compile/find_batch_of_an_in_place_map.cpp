// SPDX-License-Identifier: Apache-2.0
// shows: use visit_batch(keys, f)
#include <cubby/in_place_map.hpp>

void call(cubby::in_place_map<int, int>& m) { m.find_batch(1, 2, 3); }
