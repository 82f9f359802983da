// SPDX-License-Identifier: Apache-2.0
// says alone: this engine does not split a scan: leave out threads(n)
#include <cubby/dlht.hpp>
#include <cubby/map.hpp>

void count(cubby::map<int, int, cubby::dlht_single>& m) {
  m.visit_all(cubby::threads(2), [](const int&, const int&) {});
}
