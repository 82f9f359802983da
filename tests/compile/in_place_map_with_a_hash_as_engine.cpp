// SPDX-License-Identifier: Apache-2.0
// says alone: this is no engine: the third parameter of a map and the second of a set is the tag of an engine, such as cubby::dlht
#include <cubby/in_place_map.hpp>

#include <functional>

cubby::in_place_map<int, int, std::hash<int>> all;
