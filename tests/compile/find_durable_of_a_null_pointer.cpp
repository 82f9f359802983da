// SPDX-License-Identifier: Apache-2.0
// says alone: a null pointer is no text and no key
#include <string>

#include <cubby/durable_map.hpp>

void call(cubby::durable_map<std::string, int>& m) { (void)m.find(nullptr); }
