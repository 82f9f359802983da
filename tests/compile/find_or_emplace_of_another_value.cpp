// SPDX-License-Identifier: Apache-2.0
// says alone: find_or_emplace takes a key and a function that makes the value: factory() -> V
#include <cubby/map.hpp>

#include <string>

bool create(cubby::map<int, int>& all) {
  return all.find_or_emplace(1, [] { return std::string("one"); }).has_value();
}
