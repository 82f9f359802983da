// SPDX-License-Identifier: Apache-2.0
// says: keys of a tuple are compared by their bits, and this class has an operator==
#include <cubby/dramhit_tuples.hpp>
#include <cubby/map.hpp>

struct point {
  long x, y;
  bool operator==(const point&) const = default;
};
cubby::map<point, int, cubby::dramhit_tuples> colours;
