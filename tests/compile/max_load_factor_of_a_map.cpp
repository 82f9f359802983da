// SPDX-License-Identifier: Apache-2.0
// shows: use options.capacity or reserve(entries)
#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) { m.max_load_factor(0.5F); }
