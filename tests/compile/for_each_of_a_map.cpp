// SPDX-License-Identifier: Apache-2.0
// shows: use visit_all(f), or visit_while(f)
#include <cubby/map.hpp>

void all(const cubby::map<int, int>& m) {
  m.for_each([](int, int) {});
}
