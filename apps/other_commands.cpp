// SPDX-License-Identifier: Apache-2.0
#include "other_commands.hpp"

#include "kmer/command.hpp"
#include "shell/command.hpp"
#include "store/command.hpp"

struct other_commands::all {
  explicit all(CLI::App& program) : kmers(program), stores(program), shells(program) {}
  kmer::commands kmers;
  store::commands stores;
  shell::commands shells;
};

other_commands::other_commands(CLI::App& program) : all_(std::make_unique<all>(program)) {}
other_commands::~other_commands() = default;

bool other_commands::chosen() const { return all_->kmers.chosen() || all_->stores.chosen() || all_->shells.chosen(); }

std::string other_commands::help() const {
  if (all_->kmers.chosen()) return all_->kmers.help();
  return all_->stores.chosen() ? all_->stores.help() : all_->shells.help();
}

int other_commands::run() const {
  if (all_->kmers.chosen()) return all_->kmers.run();
  return all_->stores.chosen() ? all_->stores.run() : all_->shells.run();
}
