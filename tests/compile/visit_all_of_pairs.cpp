// SPDX-License-Identifier: Apache-2.0
// says alone: the function of a scan is called with key and value: f(const K&, const V&), of a set f(const K&)
#include <utility>

#include <cubby/map.hpp>

void scan(const cubby::map<int, int>& all, int& sum) {
  all.visit_all([&sum](const std::pair<const int, int>& entry) { sum += entry.second; });
}
