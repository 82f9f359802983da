// SPDX-License-Identifier: Apache-2.0
// says: this key would be compared by its bits, and its class has an operator==
#include <cubby/set.hpp>

struct point {
  int x, y;
  bool operator==(const point&) const = default;
};
struct point_hash {
  std::uint64_t operator()(point p) const { return static_cast<std::uint64_t>(p.x); }
};
cubby::set<point, cubby::dlht, point_hash> seen;
