// SPDX-License-Identifier: Apache-2.0
// says: insert_range takes a range of pairs, each of a key of this map and its value
#include <cubby/map.hpp>

#include <memory>
#include <utility>
#include <vector>

using table = cubby::map<int, std::unique_ptr<int>>;

std::size_t put(table& all, std::vector<std::pair<int, std::unique_ptr<int>>>& from) { return all.insert_range(from); }
