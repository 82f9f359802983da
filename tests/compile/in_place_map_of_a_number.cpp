// SPDX-License-Identifier: Apache-2.0
// shows: a number is no capacity: use in_place_map({.capacity = n})
#include <cubby/in_place_map.hpp>

cubby::in_place_map<int, int> table(1000);
