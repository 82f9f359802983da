// SPDX-License-Identifier: Apache-2.0
// says: this key would be compared by its bits, and its class has an operator==
#include <cubby/map.hpp>

struct hour {
  int number;
  bool operator==(const hour& other) { return number % 12 == other.number % 12; }
};
cubby::map<hour, int> meetings;
