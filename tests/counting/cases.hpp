// SPDX-License-Identifier: Apache-2.0
// What is counted: each verb of each kind of table, alone, in a bin that is prepared for it.
#pragma once

#include <string>
#include <vector>

#include "counting/tally.hpp"

namespace cubby_counting {

struct row {
  std::string table; // "dlht words", "dlht records", "dlht set", "dramhit words", "relativistic words", ...
  std::string verb;
  tally counts;
};

/// Every case, in a fixed order. Takes well under a second.
std::vector<row> count_all();

/// The row of one case; ends the process when there is none of that name.
const row& row_of(const std::vector<row>& all, const std::string& table, const std::string& verb);

/// One row on a line, so that two of them are compared as text.
std::string as_json(const std::vector<row>& all);
std::string as_table(const std::vector<row>& all);

} // namespace cubby_counting
