// SPDX-License-Identifier: Apache-2.0
// Why a durable file could not be opened: a code for programs, and a line for people that says what, where and what to do.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace cubby::inline v0 {

/// Why `open` of a durable table has failed. The file is then as it was.
enum class open_error : std::uint8_t {
  none,
  not_found,     ///< there is no such file, and it was not to be created
  exists,        ///< there is such a file, and it was to be created
  no_permission, ///< the system refuses
  in_use,        ///< another process, or another table of this one, has it open
  foreign,       ///< not a file of cubby, or not a regular file
  newer,         ///< of a later version of the format
  other_key,     ///< made with another type of keys
  other_value,   ///< made with another type of values
  other_hash,    ///< made with another hash function
  other_layout,  ///< made with another engine, or with other slots
  truncated,     ///< shorter than it says
  damaged,       ///< a checksum does not agree
  power_cut,     ///< the machine has stopped since, and the table was made to survive the end of a process alone
  no_space,      ///< the disk is full
  no_memory,     ///< no memory for the table, or no addresses for the mapping
  io             ///< any other error of the system
};

} // namespace cubby::inline v0

namespace cubby::inline v0::detail {

/// An error with its line of text. A plain value, so that it can be made without memory.
struct pool_error {
  open_error code = open_error::none;
  char text[320] = {};

  [[nodiscard]] bool ok() const noexcept { return code == open_error::none; }
  [[gnu::format(printf, 2, 3)]] static pool_error of(open_error code, const char* form, ...) noexcept {
    pool_error out;
    out.code = code;
    va_list more;
    va_start(more, form);
    (void)std::vsnprintf(out.text, sizeof out.text, form, more);
    va_end(more);
    return out;
  }
};

} // namespace cubby::inline v0::detail
