// SPDX-License-Identifier: Apache-2.0
// says: in which threads a call works is said by cubby::threads(n)
#include <execution>

#include <cubby/map.hpp>

void look(const cubby::map<int, int>& all) {
  all.visit_all(std::execution::par, [](const int&, const int&) {});
}
