// SPDX-License-Identifier: Apache-2.0
// The `cubby` program: one subcommand for each thing it does. Bad input ends with one line and status 2.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "bench/bench.hpp"
#include "kmer/command.hpp"

namespace {

// A file that is opened must not come to be standard error, and be told what the program has to say.
void keep_standard_files() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    // What is read is at its end, what is said is lost, and results cannot be written.
    if (::fcntl(fd, F_GETFD) == -1) (void)::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

} // namespace

int main(int argc, char** argv) {
  keep_standard_files();
  CLI::App program("cubby: concurrent hash tables, measured on your machine and your keys", "cubby");
  program.set_version_flag("--version", "cubby " CUBBY_VERSION "\n");
  program.require_subcommand(1);
  bench::raw_options raw;
  const CLI::App& command = bench::add_command(program, raw);
  const kmer::commands kmers(program);
  const auto commands = program.get_subcommands({});
  const auto is_first = [argv](const CLI::App* known) { return known->check_name(argv[1]); };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(commands.begin(), commands.end(), is_first)) {
    fmt::print(stderr, "cubby: '{}' is no command; see cubby --help\n", argv[1]);
    return 2;
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return program.exit(e);
    fmt::print(stderr, "cubby: {}; see cubby --help or cubby {} --help\n", e.what(), kmers.chosen() ? "kmer" : "bench");
    return 2;
  }
  if (kmers.chosen()) return kmers.run();
  return command.parsed() ? bench::run_command(raw) : 2;
}
