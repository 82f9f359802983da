// SPDX-License-Identifier: Apache-2.0
// says alone: a null pointer is no text and no key
#include <string>

#include <cubby/in_place_map.hpp>

void call(cubby::in_place_map<std::string, int>& m) { m.erase(nullptr); }
