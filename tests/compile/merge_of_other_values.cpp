// SPDX-License-Identifier: Apache-2.0
// says: merge takes a table of the same keys and the same values, which is not const
#include <cubby/map.hpp>

std::size_t unite(cubby::map<int, int>& all, cubby::map<int, long>& more) { return all.merge(more); }
