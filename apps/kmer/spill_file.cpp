// SPDX-License-Identifier: Apache-2.0
// O_TMPFILE; where the file system has none, a file whose name is taken away at once.
#include "spill_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "error.hpp"

namespace kmer {

spill_file::~spill_file() {
  if (fd_ >= 0) ::close(fd_);
}

void spill_file::open() {
  if (fd_ >= 0) return;
  fd_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd_ >= 0) return;
  std::string name = folder_ + "/cubby-kmer-spill-XXXXXX";
  fd_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd_ < 0)
    throw bad_input(
        fmt::format("{}: no spill file can be made here: {}; give {}", folder_, std::strerror(errno), advice_));
  ::unlink(name.c_str());
}

void spill_file::write(std::span<const std::uint8_t> bytes) {
  open();
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0)
      throw bad_input(fmt::format("{}: the spill file cannot be written: {}; give more --memory or {}", folder_,
                                  std::strerror(errno), advice_));
    size_ += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void spill_file::read(std::uint64_t offset, std::span<std::uint8_t> into) const {
  for (std::size_t have = 0; have < into.size();) {
    const ssize_t got = ::pread(fd_, into.data() + have, into.size() - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw bad_input(fmt::format("{}: the spill file cannot be read back: {}", folder_,
                                  got == 0 ? "it is shorter than it was" : std::strerror(errno)));
    have += static_cast<std::size_t>(got);
  }
}

void spill_file::clear() {
  // Where this fails the old contents only take space until they are written over.
  if (fd_ >= 0) (void)!::ftruncate(fd_, 0);
  size_ = 0;
}

} // namespace kmer
