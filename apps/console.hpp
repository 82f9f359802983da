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
#include <utility>

namespace console {

// Results that cannot be printed: one line, and exit status 2.
struct results_lost : std::runtime_error {
  explicit results_lost(int error)
      : std::runtime_error(fmt::format("standard output: cannot be written: {}", std::strerror(error))) {}
};

// To standard error. If that cannot be written, the message is lost, and the work goes on.
template <class... T> void say(fmt::format_string<T...> text, T&&... what) {
  fmt::memory_buffer line; // of usual lines on the stack: it may be memory that is wanting
  fmt::format_to(std::back_inserter(line), text, std::forward<T>(what)...);
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
