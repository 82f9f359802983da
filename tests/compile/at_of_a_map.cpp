// SPDX-License-Identifier: Apache-2.0
// shows: no references: use find(key), whose result is optional, or visit(key, f)
#include <cubby/map.hpp>

int get(const cubby::map<int, int>& counts) { return counts.at(3); }
