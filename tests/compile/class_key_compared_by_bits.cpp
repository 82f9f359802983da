// SPDX-License-Identifier: Apache-2.0
// says: this key would be compared by its bits, and its class has an operator==
#include <cubby/map.hpp>

struct point {
  int x, y;
  bool operator==(const point&) const = default;
};
cubby::map<point, int> colours;
