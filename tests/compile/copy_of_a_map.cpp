// SPDX-License-Identifier: Apache-2.0
// shows: no copies: std::move it, or keep a std::unique_ptr to it
#include <cubby/map.hpp>

auto copy_of(const cubby::map<int, int>& counts) { return cubby::map<int, int>(counts); }
