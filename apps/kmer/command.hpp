// SPDX-License-Identifier: Apache-2.0
// `cubby kmer`: its commands and their flags.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace kmer {

class commands {
public:
  explicit commands(CLI::App& program);
  ~commands();
  commands(const commands&) = delete;
  commands& operator=(const commands&) = delete;

  bool chosen() const;
  // The object that prints the help for what was typed, as far as it was understood.
  std::string help() const;
  // The exit status: 2 for bad input of the user, 1 for other failures, each with one line.
  int run() const;

  struct flags;

private:
  void add_count();
  void add_views();
  void add_makers();

  std::unique_ptr<flags> flags_;
  CLI::App* app_;
};

} // namespace kmer
