// SPDX-License-Identifier: Apache-2.0
// says: a table owns its keys: use std::string, and look up by std::string_view
#include <string_view>

#include <cubby/map.hpp>

cubby::map<std::string_view, int> counts;
