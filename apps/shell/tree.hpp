// SPDX-License-Identifier: Apache-2.0
// The commands of the program and their options, read from the tables by which the command line is parsed. Manual pages and
// completions are made from it, so that they know every option.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace shell {

struct option_entry {
  std::vector<std::string> flags; // "-o", "--output"; none: an argument that is known by its place
  std::string name;               // of the value, or of an argument without a flag; empty: the option takes none
  std::string what;
  bool required = false;
  bool several = false;
};

struct command_entry {
  std::vector<std::string> path; // "cubby", "store", "load"
  std::string what, footer;
  std::vector<option_entry> options;
  std::vector<command_entry> commands;
};

command_entry read_tree(const CLI::App& program);

// All commands, each before its own.
std::vector<const command_entry*> flat(const command_entry& top);
// The path with `between` its words.
std::string joined(const command_entry& command, const char* between);

} // namespace shell
