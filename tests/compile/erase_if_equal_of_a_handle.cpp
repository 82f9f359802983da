// SPDX-License-Identifier: Apache-2.0
// shows: use erase_if(key, p), whose p compares
#include <cubby/map.hpp>

void call(cubby::map<int, int>::handle_type& m) { m.erase_if_equal(1, 2); }
