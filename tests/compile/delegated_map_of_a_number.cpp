// SPDX-License-Identifier: Apache-2.0
// shows: a number is no capacity: use delegated_map({.capacity = n})
#include <cubby/delegated_map.hpp>

cubby::delegated_map<int, int> table(1000);
