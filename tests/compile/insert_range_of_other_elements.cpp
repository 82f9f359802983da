// SPDX-License-Identifier: Apache-2.0
// says: insert_range takes a range of pairs, each of a key of this map and its value
#include <cubby/map.hpp>

#include <string>
#include <utility>
#include <vector>

using table = cubby::map<int, int>;

std::size_t put(table& all, const std::vector<std::pair<std::string, int>>& pairs) { return all.insert_range(pairs); }
