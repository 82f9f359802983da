// SPDX-License-Identifier: Apache-2.0
// Writes the progress line.
#include "progress.hpp"

#include <cstdio>
#include <unistd.h>

#include "../console.hpp"
#include "clock.hpp"

namespace bench {

progress::progress() : terminal_(::isatty(STDERR_FILENO) != 0), begin_(seconds_now()) {}

void progress::stage(const std::string& text) {
  finish();
  console::say("[{:5.1f} s] {}\n", seconds_now() - begin_, text);
}

void progress::step(const std::string& text) {
  if (!terminal_) return;
  console::say("\r\x1b[2K[{:5.1f} s]   {}", seconds_now() - begin_, text);
  std::fflush(stderr);
  open_ = true;
}

void progress::finish() {
  if (open_) console::say("\r\x1b[2K");
  open_ = false;
}

} // namespace bench
