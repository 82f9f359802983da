// SPDX-License-Identifier: Apache-2.0
// says alone: a table holds objects, not references, arrays or void: take a pointer or a class
#include <cubby/in_place_map.hpp>

cubby::in_place_map<int, int&> all;
