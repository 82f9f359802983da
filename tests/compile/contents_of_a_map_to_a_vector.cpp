// SPDX-License-Identifier: Apache-2.0
// says: to<C>() makes a container that is filled by emplace(key, value)
#include <vector>

#include <cubby/map.hpp>

auto list(const cubby::map<int, int>& all) { return all.to<std::vector<std::pair<int, int>>>(); }
