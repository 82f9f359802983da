// SPDX-License-Identifier: Apache-2.0
// says: cubby::hash has no hash for this key type
#include <utility>

#include <cubby/set.hpp>

struct any_case {
  char letter;
  bool operator==(const any_case& other) const { return (letter | 32) == (other.letter | 32); }
};
const cubby::set<std::pair<any_case, int>> letters;
