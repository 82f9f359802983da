// SPDX-License-Identifier: Apache-2.0
// shows: use contains(key)
#include <cubby/map.hpp>

bool is_there(const cubby::map<int, int>& counts) { return counts.count(3) != 0; }
