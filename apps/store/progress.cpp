// SPDX-License-Identifier: Apache-2.0
// Writes the progress line.
#include "progress.hpp"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

#include "../console.hpp"

namespace store {

progress::progress() : terminal_(::isatty(STDERR_FILENO) != 0), begin_(std::chrono::steady_clock::now()) {}

double progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void progress::show(const std::string& input, std::uint64_t records, std::uint64_t bytes, std::uint64_t of) {
  const double now = seconds();
  if (!terminal_ || now - last_ < 0.2) return;
  last_ = now;
  const auto part = [](std::uint64_t n) { return static_cast<double>(n); };
  console::say("\r\x1b[2K[{:.0f} s] {} records ({:.0f} k/s), {}: {:.0f} MB", now, records,
               part(records) / std::max(now, 1e-3) * 1e-3, input, part(bytes) * 1e-6);
  if (of != 0) console::say(" of {:.0f} ({:.0f} %)", part(of) * 1e-6, 100 * part(bytes) / part(of));
  std::fflush(stderr);
  open_ = true;
}

void progress::finish() {
  if (open_) console::say("\r\x1b[2K");
  open_ = false;
}

} // namespace store
