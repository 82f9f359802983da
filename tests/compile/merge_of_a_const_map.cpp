// SPDX-License-Identifier: Apache-2.0
// says: merge takes a table of the same keys and the same values, which is not const
#include <cubby/map.hpp>

void take(cubby::map<int, int>& to, const cubby::map<int, int>& from) { to.merge(from); }
