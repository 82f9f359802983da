// SPDX-License-Identifier: Apache-2.0
// shows: no references: use emplace_and_modify, insert_or_assign, find or modify
#include <cubby/in_place_map.hpp>

void put(cubby::in_place_map<int, int>& counts) { counts[3] = 4; }
