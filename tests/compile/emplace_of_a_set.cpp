// SPDX-License-Identifier: Apache-2.0
// shows: use insert(key)
#include <cubby/set.hpp>

void put(cubby::set<int>& keys) { keys.emplace(3); }
