// SPDX-License-Identifier: Apache-2.0
// says: a table owns its keys: use std::string, and look up by std::string_view
#include <string_view>

#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>

void make_it() { cubby::map<std::string_view, int, cubby::iceberg_wide> m; }
