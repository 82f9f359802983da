// SPDX-License-Identifier: Apache-2.0
// shows: no iterators, as other threads may erase the entry: use visit_all(f), find or contains
#include <cubby/map.hpp>

bool is_there(const cubby::map<int, int>& counts) { return counts.find(3) != counts.end(); }
