// SPDX-License-Identifier: Apache-2.0
// The `cubby` program: one subcommand for each thing it does. Bad input ends with one line and status 2.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cubby/version.hpp>
#include <fcntl.h>
#include <iostream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "bench/bench.hpp"
#include "console.hpp"
#include "other_commands.hpp"

namespace {

// No file that is opened may get the descriptor of standard error, and with it the program's messages.
void keep_standard_files() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    // Messages are lost; nothing can be read, and results cannot be written.
    if (::fcntl(fd, F_GETFD) == -1) (void)::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
  // A file that may not grow is reported like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
}

// The first word in the place of a command of `app` that is no command; null: there is none.
const char* unknown_command(const CLI::App& app, int argc, char** argv, int at) {
  if (at >= argc || argv[at][0] == '-') return nullptr;
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const auto is_it = [&](const CLI::App* known) { return known->check_name(argv[at]); };
  const auto known = std::find_if(commands.begin(), commands.end(), is_it);
  if (known == commands.end()) return argv[at];
  const bool has_own = !(*known)->get_subcommands([](const CLI::App*) { return true; }).empty();
  return has_own ? unknown_command(**known, argc, argv, at + 1) : nullptr;
}

// What is wrong. CLI11 names what is missing before a flag that it does not know, and unknown words from the last to the first.
std::string what_is_wrong(const CLI::App& program, const CLI::ParseError& what) {
  const std::vector<std::string> unknown = program.remaining(true);
  const auto is_flag = [](const std::string& word) { return word.size() > 1 && word.front() == '-'; };
  const auto flag = std::find_if(unknown.begin(), unknown.end(), is_flag);
  return flag == unknown.end() ? what.what() : "'" + *flag + "' is no option";
}

// A word such as `--json=`; null: there is none. It comes from an empty variable of a script, and CLI11 would take the next word for the value.
const char* empty_value(int argc, char** argv) {
  for (int at = 1; at < argc && std::string_view(argv[at]) != "--"; ++at) {
    const std::string_view word = argv[at];
    if (word.size() > 3 && word.starts_with("--") && word.find('=') == word.size() - 1) return argv[at];
  }
  return nullptr;
}

// Help or the version, which CLI11 prints.
int answer(const CLI::App& program, const CLI::ParseError& what) {
  const int status = program.exit(what);
  if (std::cout.flush()) return status;
  console::say("cubby: standard output: cannot be written\n");
  return 2;
}

} // namespace

int main(int argc, char** argv) {
  keep_standard_files();
  CLI::App program("cubby: concurrent hash tables, measured on your machine and your keys", "cubby");
  program.set_version_flag("--version", std::string("cubby ") + cubby::version_text + "\n");
  program.require_subcommand(1);
  bench::raw_options raw;
  const CLI::App& command = bench::add_command(program, raw);
  const other_commands others(program);
  if (const char* const unknown = unknown_command(program, argc, argv, 1)) {
    console::say("cubby: '{}' is no command; see cubby {}--help\n", unknown,
                 unknown == argv[1] ? "" : std::string(argv[1]) + " ");
    return 2;
  }
  if (const char* const word = empty_value(argc, argv)) {
    console::say("cubby: '{}': the value is empty\n", word);
    return 2;
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return answer(program, e);
    const std::string usual = command.parsed() ? "cubby bench --help" : "cubby --help";
    console::say("cubby: {}; see {}\n", what_is_wrong(program, e), others.chosen() ? others.help() : usual);
    return 2;
  }
  if (others.chosen()) return others.run();
  return command.parsed() ? bench::run_command(raw) : 2;
}
