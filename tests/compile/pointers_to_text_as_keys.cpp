// SPDX-License-Identifier: Apache-2.0
// says: this key is a pointer to text, and pointers would be compared: use std::string
#include <cubby/map.hpp>

cubby::map<const char*, int> counts;
