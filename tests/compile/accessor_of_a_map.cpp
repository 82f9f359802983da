// SPDX-License-Identifier: Apache-2.0
// shows: no accessors: use visit(key, f), update(key, f) or an in_place_map
#include <cubby/map.hpp>

cubby::map<int, int>::accessor a;
