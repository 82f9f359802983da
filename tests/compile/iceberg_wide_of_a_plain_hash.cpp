// SPDX-License-Identifier: Apache-2.0
// says alone: this engine asks for a Hash that is_transparent and takes a std::string_view: leave the Hash out, or declare that in yours
#include <functional>
#include <string>

#include <cubby/iceberg.hpp>
#include <cubby/map.hpp>

void make_it() { cubby::map<std::string, int, cubby::iceberg_wide, std::hash<std::string>> m; }
