// SPDX-License-Identifier: Apache-2.0
// says: a table is compared with another container by a copy: table.to<C>() == c
#include <unordered_map>

#include <cubby/map.hpp>

bool same(const cubby::map<int, int>& all, const std::unordered_map<int, int>& other) { return all == other; }
