// SPDX-License-Identifier: Apache-2.0
// Writes the progress line.
#include "progress.hpp"

#include <cstdio>
#include <unistd.h>

#include "../bench/machine.hpp"
#include "../console.hpp"
#include "shape.hpp"

namespace kmer {

progress::progress(std::uint64_t memory)
    : terminal_(::isatty(STDERR_FILENO) != 0), memory_(memory), begin_(std::chrono::steady_clock::now()) {}

void progress::show(const state& now) {
  if (!terminal_) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const double mega = 1e-6;
  const auto part = [](std::uint64_t n) { return static_cast<double>(n); };
  console::say("\r\x1b[2K[{:.0f} s] {:.0f} Mbases, {:.0f} Mk-mers ({:.1f} M/s), ", seconds, part(now.bases) * mega,
               part(now.kmers) * mega, part(now.kmers) * mega / std::max(seconds, 1e-3));
  if (now.partitions != 0)
    console::say("{:.0f} M distinct in {:.0f} % of the partitions, ", part(now.distinct) * mega,
                 100.0 * now.partitions / static_cast<double>(partition_count));
  console::say("{:.2f} of {:.2f} GB", part(bench::resident_now().bytes) * 1e-9, part(memory_) * 1e-9);
  std::fflush(stderr);
  open_ = true;
}

void progress::finish() {
  if (open_) console::say("\r\x1b[2K");
  open_ = false;
}

} // namespace kmer
