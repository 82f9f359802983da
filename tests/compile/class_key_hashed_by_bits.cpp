// SPDX-License-Identifier: Apache-2.0
// says: the default hash reads this key's bits, and its class has an operator==
#include <cubby/map.hpp>

struct point {
  long x, y;
  bool operator==(const point&) const = default;
};
cubby::map<point, int> colours;
