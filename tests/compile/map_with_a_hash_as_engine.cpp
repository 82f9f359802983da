// SPDX-License-Identifier: Apache-2.0
// says alone: this is no engine: the third parameter of a map and the second of a set is the tag of an engine, such as cubby::dlht
#include <cubby/map.hpp>

#include <functional>

cubby::map<int, int, std::hash<int>> all;
