// SPDX-License-Identifier: Apache-2.0
// says alone: a path has a terminator: pass a const char*, a std::string or a std::filesystem::path
#include <string_view>

#include <cubby/durable_map.hpp>

void open_it(std::string_view path) { (void)cubby::durable_set<int>::open_read_only(path); }
