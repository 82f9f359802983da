// SPDX-License-Identifier: Apache-2.0
// A program without exceptions that makes a call which would wait for itself. A debug build ends, and says why.
#include <cubby/in_place_map.hpp>

int main() {
  cubby::in_place_map<int, int> m;
  m.insert(1, 2);
  m.modify(1, [&](int&) { m.erase(1); });
  return 0;
}
