// SPDX-License-Identifier: Apache-2.0
// says alone: this key type has no operator== for const keys: write one, or name a KeyEqual of yours as the last parameter of the table
#include <cubby/set.hpp>

struct point {
  double x, y;
};
struct hash_of_point {
  std::uint64_t operator()(const point& p) const { return static_cast<std::uint64_t>(p.x + p.y); }
};
bool add(cubby::set<point, cubby::dlht, hash_of_point>& all) { return all.insert(point{1, 2}); }
