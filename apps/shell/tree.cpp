// SPDX-License-Identifier: Apache-2.0
// The commands and options of the parser as plain structs.
#include "tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace shell {

namespace {

option_entry read_option(const CLI::Option& from) {
  option_entry to;
  for (const std::string& one : from.get_snames()) to.flags.push_back("-" + one);
  for (const std::string& one : from.get_lnames()) to.flags.push_back("--" + one);
  const bool takes_value = from.get_items_expected_max() > 0;
  to.what = from.get_description();
  if (to.flags.empty()) to.name = from.get_name();
  else if (takes_value) to.name = from.get_option_text().empty() ? from.get_type_name() : from.get_option_text();
  to.required = from.get_required();
  to.several = to.flags.empty() && from.get_items_expected_max() > 1;
  return to;
}

command_entry read_command(const CLI::App& from, const std::vector<std::string>& above) {
  command_entry to;
  to.path = above;
  to.path.push_back(from.get_name());
  to.what = from.get_description();
  to.footer = from.get_footer();
  for (const CLI::Option* const one : from.get_options([](const CLI::Option*) { return true; }))
    to.options.push_back(read_option(*one));
  for (const CLI::App* const one : from.get_subcommands([](const CLI::App*) { return true; }))
    to.commands.push_back(read_command(*one, to.path));
  return to;
}

void add_flat(const command_entry& one, std::vector<const command_entry*>& all) {
  all.push_back(&one);
  for (const command_entry& below : one.commands) add_flat(below, all);
}

} // namespace

command_entry read_tree(const CLI::App& program) { return read_command(program, {}); }

std::vector<const command_entry*> flat(const command_entry& top) {
  std::vector<const command_entry*> all;
  add_flat(top, all);
  return all;
}

std::string joined(const command_entry& command, const char* between) {
  return fmt::format("{}", fmt::join(command.path, between));
}

} // namespace shell
