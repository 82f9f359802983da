// SPDX-License-Identifier: Apache-2.0
// shows: use erase_if(key, p)
#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) {
  m.erase_key_if(1, [](int n) { return n == 2; });
}
