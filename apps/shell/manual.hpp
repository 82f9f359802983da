// SPDX-License-Identifier: Apache-2.0
// Manual pages, made from the program's own commands and options: cubby(1), and one for each command that has work to do.
#pragma once

#include <map>
#include <string>

#include "tree.hpp"

namespace shell {

// File names and contents. `date` is YYYY-MM-DD.
std::map<std::string, std::string> manual_pages(const command_entry& top, const std::string& date);

} // namespace shell
