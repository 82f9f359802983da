// SPDX-License-Identifier: Apache-2.0
// O_TMPFILE first: a file without a name is never left behind, however the program ends.
#include "output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "error.hpp"
#include "overwrite.hpp"
#include "partial_file.hpp"

namespace kmer {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

// The new file gets the permissions of the old one. To give it to the old owner needs a privilege, so that may fail; 0 or an error.
int take_rights(int fd, const struct stat& replaced) {
  struct stat own{};
  if (::fstat(fd, &own) != 0) return errno;
  const mode_t bits = replaced.st_mode & 0777;
  if ((own.st_mode & 0777) != bits && ::fchmod(fd, bits) != 0) return errno;
  [[maybe_unused]] const bool given =
      ::fchown(fd, replaced.st_uid, replaced.st_gid) == 0 || ::fchown(fd, own.st_uid, replaced.st_gid) == 0;
  return 0;
}

} // namespace

output_file::output_file(const std::string& name, const output_place& place)
    : name_(name == "-" ? "standard output" : name), place_(place), direct_(is_written_directly(place)) {}

// The delegated constructor has ended: if this one throws, the destructor cleans up.
output_file::output_file(const std::string& name) : output_file(name, place_of(name)) {
  waiting_.reserve(buffer_bytes);
  if (direct_) open_directly();
  else open_beside();
}

void output_file::open_directly() {
  fd_ = place_.descriptor >= 0 ? ::fcntl(place_.descriptor, F_DUPFD_CLOEXEC, 0)
                               : ::open(place_.path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd_ < 0) refuse(errno);
  if ((::fcntl(fd_, F_GETFL) & O_ACCMODE) == O_RDONLY) refuse(EBADF); // told now, and not by the first write
}

void output_file::open_beside() {
  struct stat about{};
  const bool is_there = ::stat(place_.path.c_str(), &about) == 0;
  if (!is_there && errno != ENOENT) refuse(errno);
  if (is_there && S_ISDIR(about.st_mode)) refuse(EISDIR);
  if (is_there && ::access(place_.path.c_str(), W_OK) != 0) refuse(errno);
  remove_stale_partials(place_.path);
  partial_file made = make_unnamed(place_.path);
  fd_ = made.fd;
  temporary_ = std::move(made.name);
  if (fd_ < 0) refuse(errno);
  if (!is_there) return;
  if (const int error = take_rights(fd_, about); error != 0) refuse(error);
}

output_file::~output_file() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (fd_ >= 0) ::close(fd_);
  if (lock_ >= 0) ::close(lock_);
}

void output_file::refuse(int error) const {
  throw bad_input(fmt::format("{}: cannot be written: {}", name_, std::strerror(error)));
}

void output_file::write_through(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) refuse(errno);
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

void output_file::flush() {
  write_through(waiting_);
  waiting_.clear();
}

void output_file::write(std::string_view bytes) {
  size_ += bytes.size();
  if (waiting_.size() + bytes.size() > buffer_bytes) flush();
  if (bytes.size() >= buffer_bytes) write_through(bytes);
  else waiting_.append(bytes);
}

void output_file::give_name() {
  if (!temporary_.empty()) return;
  temporary_ = name_partial(fd_, place_.path);
  if (temporary_.empty()) refuse(errno);
}

void output_file::commit() {
  flush();
  if (!direct_) give_name();
  // The lock stays when the descriptor is closed. The close may be the call that reports a failed write.
  if (!direct_) lock_ = ::fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (!direct_ && lock_ < 0) refuse(errno);
  if (::close(std::exchange(fd_, -1)) != 0) refuse(errno);
  if (direct_) return;
  if (std::rename(temporary_.c_str(), place_.path.c_str()) == 0) temporary_.clear();
  else if (errno == EBUSY) write_over();
  else refuse(errno);
}

// A file that is mounted by itself, as containers have them, cannot be replaced.
void output_file::write_over() const {
  const overwritten done = overwrite(place_.path, temporary_);
  if (done.error == 0) return;
  if (done.kept.empty()) refuse(done.error);
  throw bad_input(fmt::format("{}: cannot be written: {}; its old contents are in {}", name_, std::strerror(done.error),
                              done.kept));
}

} // namespace kmer
