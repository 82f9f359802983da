// SPDX-License-Identifier: Apache-2.0
// says alone: this key type has no operator== for const keys: write one, or name a KeyEqual of yours as the last parameter of the table
#include <cubby/map.hpp>

struct wide {
  std::uint64_t first, second;
};
bool add(cubby::map<wide, int>& all) { return all.insert(wide{1, 2}, 3); }
