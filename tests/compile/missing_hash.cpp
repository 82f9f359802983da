// SPDX-License-Identifier: Apache-2.0
// says: cubby::hash has no hash for this key type
#include <cubby/map.hpp>

struct point {
  double x, y;
  bool operator==(const point&) const = default;
};
cubby::map<point, int> colours;
