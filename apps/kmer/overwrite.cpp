// SPDX-License-Identifier: Apache-2.0
// What lies behind the old end is written first: where there is no space for it, the old contents have not been touched.
#include "overwrite.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "partial_file.hpp"

namespace kmer {

namespace {

constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 18;

class open_file {
public:
  open_file(const std::string& name, int how) : fd_(::open(name.c_str(), how | O_CLOEXEC, 0600)) {}
  ~open_file() {
    if (fd_ >= 0) ::close(fd_);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;

  bool is_open() const { return fd_ >= 0; }
  std::uint64_t size() const {
    struct stat about{};
    return ::fstat(fd_, &about) == 0 ? static_cast<std::uint64_t>(about.st_size) : 0;
  }
  int cut(std::uint64_t size) const { return ::ftruncate(fd_, static_cast<off_t>(size)) == 0 ? 0 : errno; }
  // A disk that has less space than it promised is found here at the latest.
  int force_to_disk() const { return ::fsync(fd_) == 0 || errno == EINVAL ? 0 : errno; }
  int read(std::uint64_t offset, char* into, std::uint64_t count) const {
    while (count != 0) {
      const ssize_t got = ::pread(fd_, into, count, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return got == 0 ? EIO : errno; // it was longer before
      into += got;
      offset += static_cast<std::uint64_t>(got);
      count -= static_cast<std::uint64_t>(got);
    }
    return 0;
  }
  // `offset` goes on to where it ended.
  int write(std::uint64_t& offset, const char* from, std::uint64_t count) const {
    while (count != 0) {
      const ssize_t done = ::pwrite(fd_, from, count, static_cast<off_t>(offset));
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) return errno;
      from += done;
      offset += static_cast<std::uint64_t>(done);
      count -= static_cast<std::uint64_t>(done);
    }
    return 0;
  }

private:
  int fd_;
};

// Copies from `at` on, which goes on to where it ended.
int copy(const open_file& from, const open_file& to, std::uint64_t& at, std::uint64_t end) {
  std::vector<char> piece(piece_bytes);
  while (at < end) {
    const std::uint64_t count = std::min(piece_bytes, end - at);
    if (const int error = from.read(at, piece.data(), count); error != 0) return error;
    if (const int error = to.write(at, piece.data(), count); error != 0) return error;
  }
  return 0;
}

int replace_head(const open_file& target, const open_file& source, std::uint64_t head, std::uint64_t& reached) {
  if (const int error = copy(source, target, reached, head); error != 0) return error;
  if (const int error = target.force_to_disk(); error != 0) return error;
  return target.cut(source.size()); // last: what is cut off could not be put back for certain
}

// Only what was written over is put back: there is space for that, because it is still the file's.
int put_back(const open_file& target, const open_file& old, std::uint64_t reached) {
  std::uint64_t at = 0;
  if (const int error = copy(old, target, at, reached); error != 0) return error;
  if (const int error = target.cut(old.size()); error != 0) return error;
  return target.force_to_disk();
}

// The old contents lie in `old` as well.
overwritten replace(const open_file& target, const open_file& source, const open_file& old, const std::string& kept) {
  const std::uint64_t before = target.size();
  std::uint64_t behind = before;
  int error = copy(source, target, behind, source.size());
  if (error == 0) error = target.force_to_disk();
  std::uint64_t reached = 0;
  if (error == 0) error = replace_head(target, source, std::min(before, source.size()), reached);
  if (error == 0) return {};
  return {error, put_back(target, old, reached) == 0 ? std::string() : kept};
}

} // namespace

overwritten overwrite(const std::string& path, const std::string& with) {
  const open_file target(path, O_RDWR);
  if (!target.is_open()) return {errno, {}};
  const open_file source(with, O_RDONLY);
  if (!source.is_open()) return {errno, {}};
  const std::string kept = name_beside(path, "old");
  const open_file old(kept, O_CREAT | O_EXCL | O_RDWR);
  if (!old.is_open()) return {errno, {}};
  std::uint64_t at = 0;
  overwritten done{copy(target, old, at, target.size()), {}};
  if (done.error == 0) done.error = old.force_to_disk();
  if (done.error == 0) done = replace(target, source, old, kept);
  if (done.kept.empty()) ::unlink(kept.c_str());
  return done;
}

} // namespace kmer
