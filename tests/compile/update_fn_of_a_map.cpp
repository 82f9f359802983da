// SPDX-License-Identifier: Apache-2.0
// shows: use update(key, f), whose f returns the new value
#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) {
  m.update_fn(1, [](int& v) { ++v; });
}
