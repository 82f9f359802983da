// SPDX-License-Identifier: Apache-2.0
// shows: use insert(key, value) or try_emplace(key, args...)
#include <cubby/map.hpp>

void put(cubby::map<int, int>& counts) { counts.emplace(3, 4); }
