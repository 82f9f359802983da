// SPDX-License-Identifier: Apache-2.0
// What a user did or gave that cannot be worked with: one line, and exit status 2.
#pragma once

#include <stdexcept>

namespace kmer {

struct bad_input : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace kmer
