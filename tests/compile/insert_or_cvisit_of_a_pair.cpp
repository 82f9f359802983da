// SPDX-License-Identifier: Apache-2.0
// shows: use insert_or_visit(key, value, f), which shows a const value
#include <cubby/map.hpp>

void call(cubby::map<int, int>& m) {
  m.insert_or_cvisit({1, 2}, [](const auto&) {});
}
