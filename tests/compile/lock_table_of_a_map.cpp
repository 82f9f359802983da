// SPDX-License-Identifier: Apache-2.0
// shows: nothing locks a whole table: use visit_all(f), erase_if(p), or a snapshot
#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) { m.lock_table(); }
