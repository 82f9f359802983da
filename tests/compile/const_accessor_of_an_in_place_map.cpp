// SPDX-License-Identifier: Apache-2.0
// shows: no accessors: use visit(key, f), modify(key, f)
#include <cubby/in_place_map.hpp>

cubby::in_place_map<int, int>::const_accessor a;
