// SPDX-License-Identifier: Apache-2.0
// shows: use insert_or_assign(key, value), or insert(key, value)
#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) { m.put(1, 2); }
