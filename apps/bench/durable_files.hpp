// SPDX-License-Identifier: Apache-2.0
// The files of durable tables: in which folder they lie, whether one can be made there, and how they disappear.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "options.hpp"

namespace bench {

// The folder for the file of an engine. `dir`: the one of --dir, or empty.
std::string folder_of(engine_id engine, const std::string& dir);
// "memory" or "disk".
std::string_view medium_of(const std::string& folder);
// Throws bad_request when a folder of the run takes no file, or has less space than its files need.
void check_folders(const run_spec& run);

// A name in a folder for a file that goes with it, also where a signal ends the program.
class file_name {
public:
  explicit file_name(const std::string& folder);
  ~file_name() { remove(); }
  file_name(const file_name&) = delete;
  file_name& operator=(const file_name&) = delete;
  const char* get() const noexcept;
  // The file has no name from here on, and disappears when it is closed.
  void remove() noexcept;

private:
  std::size_t slot_ = 0;
  bool is_there_ = true;
};

} // namespace bench
