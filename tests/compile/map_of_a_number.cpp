// SPDX-License-Identifier: Apache-2.0
// shows: a number is no capacity: use map({.capacity = n})
#include <cubby/map.hpp>

cubby::map<int, int> table(1000);
