// SPDX-License-Identifier: Apache-2.0
// says: the default hash reads this key's bits, and its class has an operator==
#include <cstdint>

#include <cubby/map.hpp>

struct half {
  std::uint64_t number = 0;
  std::uint64_t revision = 0;
  bool operator==(const half& other) const { return number == other.number; }
};

cubby::map<cubby::in_namespace<half>, int> entries;
