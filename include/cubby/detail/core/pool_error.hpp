// SPDX-License-Identifier: Apache-2.0
// Why a durable file could not be opened: a code for programs, and a line for people that says what, where and what to do.
#pragma once

#include <cstdarg>
#include <cstddef>
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
  char text[512] = {};

  [[nodiscard]] bool ok() const noexcept { return code == open_error::none; }
  /// "path: what is wrong; what to do". The middle of a path that is too long is left out, so that the end of the line is there.
  [[gnu::format(printf, 3, 4)]] static pool_error of(open_error code, const char* path, const char* form,
                                                     ...) noexcept {
    char what[most_of_what] = {};
    va_list more;
    va_start(more, form);
    (void)std::vsnprintf(what, sizeof what, form, more);
    va_end(more);
    pool_error out;
    out.code = code;
    std::size_t at = 0;
    const auto add = [&](const char* from, std::size_t count) {
      std::memcpy(out.text + at, from, count);
      at += count;
    };
    const std::size_t size = std::strlen(path);
    const std::size_t space = sizeof out.text - sizeof ": " - std::strlen(what);
    if (size <= space) {
      add(path, size);
    } else {
      std::size_t begin = (space - std::strlen("...")) / 2;
      std::size_t end = size - begin;
      while (begin != 0 && is_inside(path[begin])) --begin;
      while (is_inside(path[end])) ++end;
      add(path, begin);
      add("...", std::strlen("..."));
      add(path + end, size - end);
    }
    add(": ", std::strlen(": "));
    add(what, std::strlen(what));
    return out;
  }

private:
  static constexpr std::size_t most_of_what = 320;
  /// Whether a character of UTF-8 would be cut in front of this byte.
  static constexpr bool is_inside(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80; }
};

} // namespace cubby::inline v0::detail
