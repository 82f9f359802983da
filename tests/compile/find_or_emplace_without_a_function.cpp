// SPDX-License-Identifier: Apache-2.0
// says alone: find_or_emplace takes a key and a function that makes the value: factory() -> V
#include <cubby/map.hpp>

bool create(cubby::map<int, int>& all) { return all.find_or_emplace(1, 7).has_value(); }
