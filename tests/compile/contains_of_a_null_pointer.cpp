// SPDX-License-Identifier: Apache-2.0
// says alone: a null pointer is no text and no key
#include <string>

#include <cubby/set.hpp>

void call(cubby::set<std::string>& m) { (void)m.contains(nullptr); }
