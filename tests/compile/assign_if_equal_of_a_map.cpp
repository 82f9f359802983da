// SPDX-License-Identifier: Apache-2.0
// shows: use compute(key, f), whose f compares
#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) { m.assign_if_equal(1, 2, 3); }
