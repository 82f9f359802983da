// SPDX-License-Identifier: Apache-2.0
// Gives a file new contents where it lies, for one that no other can replace. It gets all of them or keeps its own: these are
// copied beside it first, NAME.xxxxxxxxxxxxxxxx.old, and stay there when the program is killed or cannot put them back.
#pragma once

#include <string>

namespace kmer {

struct overwritten {
  int error = 0;    // 0: it has the new contents
  std::string kept; // where the old ones are if they could not be put back
};
overwritten overwrite(const std::string& path, const std::string& with);

} // namespace kmer
