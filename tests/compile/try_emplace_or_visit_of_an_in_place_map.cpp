// SPDX-License-Identifier: Apache-2.0
// shows: use insert_or_modify(key, f, args...)
#include <cubby/in_place_map.hpp>

void call(cubby::in_place_map<int, int>& m) { m.try_emplace_or_visit(1, 2, 3); }
