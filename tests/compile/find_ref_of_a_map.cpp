// SPDX-License-Identifier: Apache-2.0
// shows: a handle has it: auto h = m.handle(); h.find_ref(key)
#include <string>

#include <cubby/map.hpp>

auto look(const cubby::map<int, std::string>& all) { return all.find_ref(1); }
