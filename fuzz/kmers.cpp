// SPDX-License-Identifier: Apache-2.0
// Fuzzes the readers of `cubby kmer`: sequences, gzip, k-mer files and KFF. The first byte chooses the reader, the next
// ones how it is used, and the rest is the file. Run by libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer:
// tools/run_tests.py --only fuzz; one input again: cubby_fuzz_kmers FILE.
#include "kmers.hpp"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cubby_fuzz {

memory_file::memory_file(std::string_view bytes) : fd_(::memfd_create("input", MFD_CLOEXEC)) {
  require(fd_ >= 0 && ::write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
          "no file in memory can be made");
  path_ = "/proc/self/fd/" + std::to_string(fd_);
}

memory_file::~memory_file() { ::close(fd_); }

std::size_t cut_source::read(std::span<char> into) {
  std::size_t count = std::min(into.size(), bytes_.size() - at_);
  if (seed_ != 0 && count != 0) {
    seed_ = seed_ * 1103515245u + 12345u;
    // Short parts are where a reader's state is kept, so three of four are.
    const unsigned longest = seed_ >> 30 == 0 ? 4096 : 4;
    count = std::min<std::size_t>(count, 1 + (seed_ >> 16) % longest);
  }
  std::memcpy(into.data(), bytes_.data() + at_, count);
  at_ += count;
  return count;
}

void clear_output() {
  static const bool replaced = [] {
    const int fd = ::memfd_create("output", 0);
    return fd >= 0 && ::dup2(fd, STDOUT_FILENO) == STDOUT_FILENO && ::close(fd) == 0;
  }();
  require(replaced && ::ftruncate(STDOUT_FILENO, 0) == 0 && ::lseek(STDOUT_FILENO, 0, SEEK_SET) == 0,
          "standard output cannot be a file in memory");
}

std::string output() {
  struct stat about{};
  require(::fstat(STDOUT_FILENO, &about) == 0, "no output");
  std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
  require(::pread(STDOUT_FILENO, bytes.data(), bytes.size(), 0) == about.st_size, "no output");
  return bytes;
}

} // namespace cubby_fuzz

// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cubby_fuzz;
  struct reader {
    const char* name;
    void (*run)(input&);
  };
  static constexpr reader readers[] = {
      {"text", &read_text}, {"gzip", &read_gzip}, {"k-mer file", &read_file}, {"KFF", &read_kff}};
  input in(data, size);
  const reader& chosen = readers[in.byte() % 4];
  here() = {chosen.name, "", 0};
  chosen.run(in);
  return 0;
}
