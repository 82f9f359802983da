// SPDX-License-Identifier: Apache-2.0
// shows: no iterators, as other threads may erase the key: use contains(key)
#include <cubby/set.hpp>

bool is_there(const cubby::set<int>& keys) { return keys.find(3) != keys.end(); }
