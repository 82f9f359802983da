// SPDX-License-Identifier: Apache-2.0
// What the name of an output leads to.
#pragma once

#include <optional>
#include <string>
#include <sys/stat.h>

namespace kmer {

struct output_place {
  std::string path;    // behind symbolic links, there or not: the links stay
  int descriptor = -1; // of this process, when it is one's name: -, /dev/stdout, /dev/fd/3
};
output_place place_of(const std::string& name);

// What the system says of a file; nothing when it is not there.
using file_status = std::optional<struct stat>;
file_status status_of(const std::string& name);
file_status status_of(int descriptor);
file_status status_of(const output_place& place);
// One file under two names. Devices such as terminals and /dev/null are shared without harm, so they never are.
bool is_one_thing(const file_status& one, const file_status& other);

// A device, a pipe or a descriptor: nothing that could take another file's name.
bool is_written_directly(const output_place& place);

// Whether two outputs would take each other's place, or be mixed.
bool is_one_output(const std::string& name, const std::string& other);

// Where files beside an output lie: its folder, or the current one when it is written directly.
std::string folder_beside(const std::string& name);

} // namespace kmer
