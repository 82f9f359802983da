// SPDX-License-Identifier: Apache-2.0
// shows: use add_and_fetch(key, n), or insert_or_add(key, n)
#include <cubby/map.hpp>

auto count(cubby::map<int, int>& all) { return all.fetch_add(1, 1); }
