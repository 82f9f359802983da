// SPDX-License-Identifier: Apache-2.0
// says alone: the predicate of erase_if(p) or visit_while(p) is called with key and value and returns a bool: p(const K&, const V&) -> bool
#include <cubby/map.hpp>

std::size_t take(cubby::map<int, int>& all) {
  return all.erase_if([](const int& v) { return v == 1; });
}
