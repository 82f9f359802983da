// SPDX-License-Identifier: Apache-2.0
// shows: writes are not answered: use insert_or_assign(key, value) of a handle
#include <cubby/delegated_map.hpp>

void put(cubby::delegated_map<int, int>& counts) { counts.insert(3, 4); }
