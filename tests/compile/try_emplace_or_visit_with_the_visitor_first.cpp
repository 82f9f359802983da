// SPDX-License-Identifier: Apache-2.0
// says: this call takes a key, then what the value is made of, and last a function of a const V&
#include <cubby/map.hpp>

bool insert(cubby::map<int, int>& all) {
  return all.try_emplace_or_visit(1, [](const int&) {}, 2);
}
