// SPDX-License-Identifier: Apache-2.0
// Both commands read the options of the program that they belong to.
#include "command.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/chrono.h>

#include "../console.hpp"
#include "completion.hpp"
#include "manual.hpp"

namespace shell {

namespace {

bool is_date(const std::string& text) {
  const std::string form = "dddd-dd-dd";
  const auto fits = [](char of_text, char of_form) {
    return of_form == 'd' ? std::isdigit(static_cast<unsigned char>(of_text)) != 0 : of_text == of_form;
  };
  return std::equal(text.begin(), text.end(), form.begin(), form.end(), fits);
}

bool write_file(const std::filesystem::path& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written;
}

} // namespace

commands::commands(CLI::App& program) : program_(&program) {
  completion_ = program.add_subcommand("completion", "Print a script that completes commands and options in a shell");
  completion_->add_option("SHELL", shell_, std::string("name of the shell: ") + shells)->required();
  manual_ = program.add_subcommand("manual", "Write the manual pages of the program, cubby.1 and others");
  manual_->add_option("FOLDER", folder_, "folder to write them to; it has to be there")->required();
  manual_->add_option("--date", date_, "date of the pages, as 2026-11-25; default today");
}

std::string commands::help() const { return completion_->parsed() ? "cubby completion --help" : "cubby manual --help"; }

int commands::print_completion() const {
  const std::string script = completion_for(shell_, read_tree(*program_));
  if (script.empty()) {
    console::say("cubby completion: '{}': no script for this shell; give {}\n", shell_, shells);
    return 2;
  }
  try {
    console::print("{}", script);
    console::flush();
  } catch (const console::results_lost& lost) {
    console::say("cubby completion: {}\n", lost.what());
    return 2;
  }
  return 0;
}

int commands::write_manual() const {
  const bool has_date = manual_->count("--date") != 0;
  if (has_date && !is_date(date_)) {
    console::say("cubby manual: --date '{}': not a date; give one as 2026-11-25\n", date_);
    return 2;
  }
  const std::string date = has_date ? date_ : fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::chrono::system_clock::now()));
  for (const auto& [name, text] : manual_pages(read_tree(*program_), date)) {
    const std::filesystem::path path = std::filesystem::path(folder_) / name;
    if (write_file(path, text)) continue;
    console::say("cubby manual: {}: cannot be written: {}; give a folder that is there\n", path.string(),
                 std::strerror(errno));
    return 2;
  }
  return 0;
}

int commands::run() const { return completion_->parsed() ? print_completion() : write_manual(); }

} // namespace shell
