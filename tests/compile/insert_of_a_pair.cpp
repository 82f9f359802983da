// SPDX-License-Identifier: Apache-2.0
// shows: use insert(key, value)
#include <cubby/map.hpp>

void put(cubby::map<int, int>& counts) { counts.insert({3, 4}); }
