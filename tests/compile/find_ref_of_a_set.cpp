// SPDX-License-Identifier: Apache-2.0
// says alone: find_ref needs a map in record mode
#include <string>
#include <string_view>

#include <cubby/set.hpp>

bool refer(cubby::set<std::string>::handle_type& all) { return all.find_ref(std::string_view("key")) != nullptr; }
