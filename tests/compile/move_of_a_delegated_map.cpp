// SPDX-License-Identifier: Apache-2.0
// shows: it stays where it is made: keep a std::unique_ptr to it
#include <utility>

#include <cubby/delegated_map.hpp>

auto moved(cubby::delegated_map<int, int>& counts) { return cubby::delegated_map<int, int>(std::move(counts)); }
