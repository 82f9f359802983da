// SPDX-License-Identifier: Apache-2.0
// shows: use erase(key)
#include <cubby/set.hpp>

void call(cubby::set<int>& m) { m.unsafe_erase(1); }
