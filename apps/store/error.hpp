// SPDX-License-Identifier: Apache-2.0
// Why a command could not do its work: one line, and exit status 2. Status 1 is kept for answers: absent, not sound.
#pragma once

#include <stdexcept>

namespace store {

struct refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The file is a table, but not a whole one.
struct broken_file : refused {
  using refused::refused;
};

} // namespace store
