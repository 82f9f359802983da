// SPDX-License-Identifier: Apache-2.0
// Files that are being made beside the place that they will take: NAME.xxxxxxxxxxxxxxxx.partial, locked (flock) while their
// program lives. What a killed program leaves is free, and the next that writes to NAME takes it away.
#pragma once

#include <string>
#include <sys/types.h>

namespace kmer {

struct partial_file {
  int fd = -1;      // -1: it could not be made, and errno says why
  std::string name; // empty: `name_partial` can give it one
};
// A new one, open for writing.
partial_file make_partial(const std::string& path, mode_t mode = 0666);
// The same, without a name where the file system can do that: nothing is left of it, however the program ends.
partial_file make_unnamed(const std::string& path, mode_t mode = 0666);
// Gives a file without a name such a one; empty: errno says why not.
std::string name_partial(int fd, const std::string& path);
// Takes away what ended programs have left.
void remove_stale_partials(const std::string& path);

// A new name beside `path`, as long as a name may be: its own, random letters, and what follows the dot.
std::string name_beside(const std::string& path, const char* ending);

} // namespace kmer
