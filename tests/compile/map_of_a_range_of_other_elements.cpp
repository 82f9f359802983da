// SPDX-License-Identifier: Apache-2.0
// says: insert_range takes a range of pairs
#include <vector>

#include <cubby/map.hpp>

std::size_t count(const std::vector<int>& keys) { return cubby::map<int, int>(keys.begin(), keys.end()).size(); }
