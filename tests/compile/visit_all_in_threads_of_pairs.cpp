// SPDX-License-Identifier: Apache-2.0
// says alone: the function of a scan is called with key and value: f(const K&, const V&), of a set f(const K&)
#include <utility>

#include <cubby/map.hpp>

void scan(const cubby::map<int, int>& all) {
  all.visit_all(cubby::threads(2), [](const std::pair<const int, int>&) {});
}
