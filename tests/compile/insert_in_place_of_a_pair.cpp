// SPDX-License-Identifier: Apache-2.0
// shows: use insert(key, value)
#include <cubby/in_place_map.hpp>

void put(cubby::in_place_map<int, int>& counts) { counts.insert({3, 4}); }
