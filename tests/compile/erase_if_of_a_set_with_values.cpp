// SPDX-License-Identifier: Apache-2.0
// says alone: the predicate of erase_if(p) or visit_while(p) is called with key and value and returns a bool: p(const K&, const V&) -> bool, of a set p(const K&) -> bool
#include <cubby/set.hpp>

std::size_t take(cubby::set<int>& all) {
  return all.erase_if([](const int& k, int) { return k == 1; });
}
