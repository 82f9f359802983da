// SPDX-License-Identifier: Apache-2.0
// says alone: a null pointer is no text and no key
#include <string>

#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>

void call(cubby::map<std::string, int, cubby::iceberg>& m) { (void)m.find(nullptr); }
