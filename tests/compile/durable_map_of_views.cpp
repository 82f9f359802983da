// SPDX-License-Identifier: Apache-2.0
// says: a durable value is text (std::string), or trivially copyable: it has no pointers
#include <string_view>

#include <cubby/durable_map.hpp>

void open_it() { (void)cubby::durable_map<int, std::string_view>::open("views.cubby"); }
