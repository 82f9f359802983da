// SPDX-License-Identifier: Apache-2.0
// Files are compared by what they are: links and descriptors give one file many names.
#include "ends.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "alignment.hpp"
#include "error.hpp"
#include "input.hpp"
#include "output_place.hpp"

namespace kmer {

namespace {

void keep_input(const std::string& shown, const file_status& input, const std::string& output, output_kind kind) {
  // Input and output may be the same socket: neither is lost.
  if (input && S_ISSOCK(input->st_mode)) return;
  if (!is_one_thing(input, status_of(place_of(output)))) return;
  if (kind == output_kind::summary)
    throw bad_input(fmt::format("{}: it is an input and the summary; give --json another name", shown));
  throw bad_input(output == "-"
                      ? fmt::format("{}: it is the input and the output; send standard output elsewhere", shown)
                      : fmt::format("{}: it is the input and the output; give -o another name", shown));
}

// Only files are opened: a second open of a pipe would lose what was read at the first one.
void check_whole(const std::string& name) {
  if (const file_status about = status_of(name); about && S_ISREG(about->st_mode)) check_end(name, open_input(name));
}

void check_readable(const std::string& name, const std::string& shown) {
  const file_status about = status_of(name);
  if (!about || ::faccessat(AT_FDCWD, name.c_str(), R_OK, AT_EACCESS) != 0)
    throw bad_input(fmt::format("{}: cannot be read: {}", shown, std::strerror(errno)));
  if (S_ISDIR(about->st_mode)) throw bad_input(fmt::format("{}: is a folder; give a file of sequences", shown));
}

bool is_open_for_reading(int descriptor) {
  const int how = ::fcntl(descriptor, F_GETFL);
  return how != -1 && (how & O_ACCMODE) != O_WRONLY;
}

} // namespace

void check_streams(const std::vector<std::string>& names) {
  std::size_t standard_inputs = 0;
  for (const std::string& name : names) {
    const bool is_standard_input = name == "-" || place_of(name).descriptor == STDIN_FILENO;
    if (is_standard_input && !is_open_for_reading(STDIN_FILENO))
      throw bad_input(fmt::format("{}: standard input is closed; give it a file or a pipe", name));
    if (is_standard_input && ++standard_inputs > 1)
      throw bad_input(fmt::format("{}: standard input is given twice, and can be read once", name));
    if (!is_standard_input) check_readable(name, name);
  }
  for (const std::string& name : names)
    if (name != "-") check_whole(name);
}

void check_reference(const std::string& name) {
  if (is_fetched(name)) return;
  const std::string shown = fmt::format("--reference '{}'", name);
  check_readable(name, shown);
  if (name.find("##idx##") != std::string::npos)
    throw bad_input(fmt::format("{}: htslib would open another file by that name; give a link to it", shown));
}

void keep_inputs(const command_inputs& inputs, const std::string& output, output_kind kind) {
  for (const std::string& name : inputs.streams)
    keep_input(shown_name(name), name == "-" ? status_of(STDIN_FILENO) : status_of(name), output, kind);
  for (const std::string& name : inputs.files) keep_input(name, status_of(name), output, kind);
}

void keep_inputs_until_named(const command_inputs& inputs, const std::string& output) {
  if (is_written_directly(place_of(output))) keep_inputs(inputs, output);
}

void keep_apart(const std::string& output, const std::string& summary) {
  if (is_one_output(output, summary))
    throw bad_input(fmt::format("{}: it is the output and the summary; give --json another name", summary));
}

void keep_from_words(const std::string& output, output_kind kind) {
  if (!is_one_thing(status_of(place_of(output)), status_of(STDERR_FILENO))) return;
  const bool is_summary = kind == output_kind::summary;
  throw bad_input(fmt::format("{}: it is the {} and standard error; give {} another name", output,
                              is_summary ? "summary" : "output", is_summary ? "--json" : "-o"));
}

} // namespace kmer
