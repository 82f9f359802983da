// SPDX-License-Identifier: Apache-2.0
// shows: use insert_range(pairs), or try_insert of each
#include <unordered_map>

#include <cubby/map.hpp>

void fill(cubby::map<int, int>& m, const std::unordered_map<int, int>& from) { m.insert(from.begin(), from.end()); }
