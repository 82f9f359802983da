// SPDX-License-Identifier: Apache-2.0
// An error of the user, in the command or in its input: one line, and exit status 2.
#pragma once

#include <stdexcept>

namespace kmer {

struct bad_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace kmer
