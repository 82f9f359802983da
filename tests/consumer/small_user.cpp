// SPDX-License-Identifier: Apache-2.0
// The least that a user writes; what it costs to compile is reported by the test command.
#include <cstdint>

#include <cubby/map.hpp>

int main() {
  cubby::map<std::uint64_t, std::uint64_t> table;
  table.insert(1, 2);
  return table.find(1) == 2U && table.erase(1) ? 0 : 1;
}
