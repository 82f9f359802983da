// SPDX-License-Identifier: Apache-2.0
// shows: use find(key), whose result is optional, or visit(key, f)
#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) { m.handle().get(1); }
