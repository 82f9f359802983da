// SPDX-License-Identifier: Apache-2.0
// says alone: a durable key is compared by its bits, and the class of this one has an operator==: specialize as true cubby::bits_are_equality<K> if both mean the same
#include <cubby/durable_map.hpp>

struct place {
  long x, y, z;
  bool operator==(const place&) const = default;
};
void open_it() { (void)cubby::durable_set<place>::open("places.cubby"); }
