// SPDX-License-Identifier: Apache-2.0
// Completion scripts of three shells, made from the program's own commands and options.
#pragma once

#include <string>
#include <string_view>

#include "tree.hpp"

namespace shell {

// Empty: there is no script for a shell of this name.
std::string completion_for(std::string_view name, const command_entry& top);
// For messages.
inline constexpr const char* shells = "bash, zsh or fish";

} // namespace shell
