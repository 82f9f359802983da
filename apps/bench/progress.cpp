// SPDX-License-Identifier: Apache-2.0
// Writes the progress line.
#include "progress.hpp"

#include <cstdio>
#include <fmt/core.h>
#include <unistd.h>

#include "clock.hpp"

namespace bench {

progress::progress() : terminal_(::isatty(STDERR_FILENO) != 0), begin_(seconds_now()) {}

void progress::stage(const std::string& text) {
  finish();
  fmt::print(stderr, "[{:5.1f} s] {}\n", seconds_now() - begin_, text);
}

void progress::step(const std::string& text) {
  if (!terminal_) return;
  fmt::print(stderr, "\r\x1b[2K[{:5.1f} s]   {}", seconds_now() - begin_, text);
  std::fflush(stderr);
  open_ = true;
}

void progress::finish() {
  if (open_) fmt::print(stderr, "\r\x1b[2K");
  open_ = false;
}

} // namespace bench
