// SPDX-License-Identifier: Apache-2.0
// shows: no references: use find, insert_or_assign, insert_or_add, find_or_emplace
#include <cubby/map.hpp>

void put(cubby::map<int, int>& counts) { counts[3] = 4; }
