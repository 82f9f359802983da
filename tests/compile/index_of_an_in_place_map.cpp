// SPDX-License-Identifier: Apache-2.0
// shows: no references: use find, insert_or_assign, modify or insert_or_modify
#include <cubby/in_place_map.hpp>

void put(cubby::in_place_map<int, int>& counts) { counts[3] = 4; }
