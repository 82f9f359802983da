// SPDX-License-Identifier: Apache-2.0
#include "bench/build_kind.hpp"
#include "console.hpp"
#include "other_commands.hpp"

struct other_commands::all {
  explicit all(CLI::App& program) {
    for (const char* const name : {"kmer", "store", "completion", "manual"})
      names.push_back(program.add_subcommand(name, "Not in this program")->prefix_command()->group(""));
  }
  const CLI::App* chosen() const {
    for (const CLI::App* const one : names)
      if (one->parsed()) return one;
    return nullptr;
  }
  std::vector<const CLI::App*> names;
};

other_commands::other_commands(CLI::App& program) : all_(std::make_unique<all>(program)) {}
other_commands::~other_commands() = default;

bool other_commands::chosen() const { return all_->chosen() != nullptr; }
std::string other_commands::help() const { return "cubby --help"; }
int other_commands::run() const {
  console::say("cubby {}: {}\n", all_->chosen()->get_name(), bench::how_to_get_the_rest);
  return 2;
}
