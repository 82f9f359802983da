// SPDX-License-Identifier: Apache-2.0
// shows: no iterators, as other threads may erase the entry: use visit_all(f)
#include <cubby/map.hpp>

auto first(cubby::map<int, int>& counts) { return counts.begin(); }
