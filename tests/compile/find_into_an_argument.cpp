// SPDX-License-Identifier: Apache-2.0
// shows: use find(key), whose result is optional
#include <cubby/map.hpp>

void call(const cubby::map<int, int>& m) {
  int out = 0;
  m.find(1, out);
}
