// SPDX-License-Identifier: Apache-2.0
// Messages and results of the program.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace console {

// Results that cannot be printed: one line, and exit status 2.
struct results_lost : std::runtime_error {
  explicit results_lost(int error)
      : std::runtime_error(fmt::format("standard output: cannot be written: {}", std::strerror(error))) {}
};

// A text in a message. Its control characters are written as \x0a, so that a path with a line end makes no second line.
struct text_of_message {
  explicit text_of_message(std::string_view from) : text(from) {}
  std::string_view text;
};
template <class T>
using shown_as = std::conditional_t<std::is_convertible_v<T, std::string_view>, text_of_message, std::decay_t<T>>;

// To standard error. If that cannot be written, the message is lost, and the work goes on.
template <class... T> void say(fmt::format_string<shown_as<T>...> text, T&&... what) {
  fmt::memory_buffer line; // of usual lines on the stack: it may be memory that is wanting
  fmt::format_to(std::back_inserter(line), text, shown_as<T>(what)...);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

// To standard output; throws results_lost, at the latest from `flush`.
template <class... T> void print(fmt::format_string<T...> text, T&&... what) {
  const std::string line = fmt::format(text, std::forward<T>(what)...);
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size()) throw results_lost(errno);
}
inline void flush() {
  if (std::fflush(stdout) != 0) throw results_lost(errno);
}

} // namespace console

template <> struct fmt::formatter<console::text_of_message> {
  static constexpr auto parse(format_parse_context& from) { return from.begin(); }
  static auto format(const console::text_of_message& message, format_context& to) {
    auto at = to.out();
    for (const char c : message.text)
      if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') at = fmt::format_to(at, "\\x{:02x}", c);
      else *at++ = c;
    return at;
  }
};
