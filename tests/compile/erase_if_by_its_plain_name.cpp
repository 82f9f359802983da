// SPDX-License-Identifier: Apache-2.0
// shows: use the member: m.erase_if(p)
#include <vector>

#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) {
  using std::erase_if;
  erase_if(m, [](const auto&) { return true; });
}
