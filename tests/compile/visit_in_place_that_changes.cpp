// SPDX-License-Identifier: Apache-2.0
// says alone: the function of visit is called with the value alone: f(const V&)
#include <cubby/in_place_map.hpp>

std::size_t look(const cubby::in_place_map<int, int>& all) {
  return all.visit(1, [](int& v) { v = 2; });
}
