// SPDX-License-Identifier: Apache-2.0
// What the name of an output stands for.
#pragma once

#include <string>

namespace kmer {

struct output_place {
  std::string path;    // behind symbolic links, there or not: the links stay
  int descriptor = -1; // of this process, when it is one's name: -, /dev/stdout, /dev/fd/3
};
output_place place_of(const std::string& name);

// A device, a pipe or a descriptor: nothing that could take another file's name.
bool is_written_directly(const output_place& place);

// Whether two outputs would take each other's place, or be mixed.
bool is_one_output(const std::string& name, const std::string& other);

// Where files beside an output lie: its folder, or the current one when it is written directly.
std::string folder_beside(const std::string& name);

} // namespace kmer
