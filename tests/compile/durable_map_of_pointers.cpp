// SPDX-License-Identifier: Apache-2.0
// says: a durable value is text (std::string), or trivially copyable: it has no pointers
#include <cubby/durable_map.hpp>

void open_it() { (void)cubby::durable_map<int, int*>::open("pointers.cubby"); }
