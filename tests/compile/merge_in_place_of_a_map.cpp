// SPDX-License-Identifier: Apache-2.0
// says alone: merge takes an in_place_map of the same keys and the same values, not const
#include <cubby/in_place_map.hpp>

std::size_t join(cubby::in_place_map<int, int>& to, cubby::map<int, int>& from) { return to.merge(from); }
