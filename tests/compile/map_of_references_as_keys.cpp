// SPDX-License-Identifier: Apache-2.0
// says alone: a table holds objects, not references, arrays or void: take a pointer or a class
#include <cubby/map.hpp>

cubby::map<int&, int> all;
