// SPDX-License-Identifier: Apache-2.0
// shows: use modify(key, f), whose f compares and assigns
#include <cubby/in_place_map.hpp>

void call(cubby::in_place_map<int, int>& m) { m.assign_if_equal(1, 2, 3); }
