// SPDX-License-Identifier: Apache-2.0
// The commands beside `cubby bench`. The program of `make demo` has none of them, and says so.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

class other_commands {
public:
  explicit other_commands(CLI::App& program);
  ~other_commands();
  other_commands(const other_commands&) = delete;
  other_commands& operator=(const other_commands&) = delete;

  // One of them was given.
  bool chosen() const;
  // What shows the usage of the one that was given.
  std::string help() const;
  // The exit status: 0, 1, or 2 with one line.
  int run() const;

private:
  struct all;
  std::unique_ptr<all> all_;
};
