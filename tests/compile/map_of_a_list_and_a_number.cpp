// SPDX-License-Identifier: Apache-2.0
// shows: a number is no capacity: use map({.capacity = n})
#include <cubby/map.hpp>

const cubby::map<int, int> m({{1, 2}, {3, 4}}, 1000);
