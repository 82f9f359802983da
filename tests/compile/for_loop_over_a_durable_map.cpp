// SPDX-License-Identifier: Apache-2.0
// shows: no iterators, as other threads may erase the entry: use visit_all(f)
#include <cubby/durable_map.hpp>

void show(const cubby::durable_map<int, int>& table) {
  for (const auto& entry : table) static_cast<void>(entry);
}
