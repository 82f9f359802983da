// SPDX-License-Identifier: Apache-2.0
// `cubby store`: its commands and their flags.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace store {

class commands {
public:
  explicit commands(CLI::App& program);
  ~commands();
  commands(const commands&) = delete;
  commands& operator=(const commands&) = delete;

  bool chosen() const;
  // The object that prints the help for what was typed, as far as it was understood.
  std::string help() const;
  // The exit status: 0; 1 for a key that is absent and a file that is not sound; 2 for everything else, with one line.
  int run() const;

  struct flags;

private:
  CLI::App& add(const char* name, const char* what, const char* file);
  void add_entry_commands();
  void add_file_commands();

  std::unique_ptr<flags> flags_;
  CLI::App* app_;
  CLI::Option* value_ = nullptr;
};

} // namespace store
