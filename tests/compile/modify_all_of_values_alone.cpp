// SPDX-License-Identifier: Apache-2.0
// says alone: the function of a scan is called with key and value: f(const K&, const V&), of a set f(const K&), of modify_all f(const K&, V&)
#include <cubby/in_place_map.hpp>

void scan(cubby::in_place_map<int, int>& all) {
  all.modify_all([](int& v) { ++v; });
}
