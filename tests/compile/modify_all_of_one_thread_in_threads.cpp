// SPDX-License-Identifier: Apache-2.0
// says alone: this engine does not split a scan: leave out threads(n)
#include <cubby/dlht.hpp>
#include <cubby/in_place_map.hpp>

void change(cubby::in_place_map<int, int, cubby::dlht_single>& m) {
  m.modify_all(cubby::threads(2), [](const int&, int& v) { ++v; });
}
