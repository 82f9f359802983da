// SPDX-License-Identifier: Apache-2.0
// A schedule that crashes the process must be named, too (a touch of memory that has been unmapped, a report of
// AddressSanitizer). While a note lives, a fatal signal prints how to run its schedule again.
#pragma once

#include <string>

namespace cubby_test {

class crash_note {
public:
  explicit crash_note(const std::string& scenario_name);
  ~crash_note();
  crash_note(const crash_note&) = delete;
  crash_note& operator=(const crash_note&) = delete;
};

} // namespace cubby_test
