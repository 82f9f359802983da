// SPDX-License-Identifier: Apache-2.0
// shows: use emplace_and_modify(key, f), whose f adds and keeps the result
#include <cubby/in_place_map.hpp>

void call(cubby::in_place_map<int, int>& m) { m.add_and_fetch(1, 2); }
