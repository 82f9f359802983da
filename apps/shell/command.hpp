// SPDX-License-Identifier: Apache-2.0
// `cubby completion` and `cubby manual`: what a shell and man(1) need, printed by the program itself.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace shell {

class commands {
public:
  explicit commands(CLI::App& program);

  bool chosen() const { return completion_->parsed() || manual_->parsed(); }
  std::string help() const;
  // The exit status: 0, or 2 with one line.
  int run() const;

private:
  int print_completion() const;
  int write_manual() const;

  CLI::App* program_;
  CLI::App* completion_;
  CLI::App* manual_;
  std::string shell_, folder_, date_;
};

} // namespace shell
