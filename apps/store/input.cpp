// SPDX-License-Identifier: Apache-2.0
// Reads blocks and cuts them into lines.
#include "input.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <isa-l/crc64.h>
#include <span>
#include <sys/stat.h>
#include <unistd.h>

#include "../kmer/gzip.hpp"
#include "error.hpp"
#include "records.hpp"

namespace store {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 18;

std::string identity_in(const struct stat& about) {
  return fmt::format("{}:{}:{}:{}.{:09}:{}.{:09}", about.st_dev, about.st_ino, about.st_size, about.st_mtim.tv_sec,
                     about.st_mtim.tv_nsec, about.st_ctim.tv_sec, about.st_ctim.tv_nsec);
}

} // namespace

// The bytes as they lie in the file. The first ones can be looked at before they are read.
class input::file : public kmer::byte_source {
public:
  file(const std::string& path, std::string name) : name_(std::move(name)) {
    fd_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about{};
    if (fd_ < 0 || ::fstat(fd_, &about) != 0) refuse();
    if (S_ISREG(about.st_mode)) {
      size_ = static_cast<std::uint64_t>(about.st_size);
      if (fd_ != STDIN_FILENO) identity_ = identity_in(about); // standard input may begin in the middle of one
    }
    while (head_.size() < gzip_mark.size()) {
      char byte = 0;
      if (fetch({&byte, 1}) == 0) break;
      head_.push_back(byte);
    }
  }
  ~file() override {
    if (fd_ > STDIN_FILENO) ::close(fd_);
  }
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  std::size_t read(std::span<char> into) override {
    std::size_t got = 0;
    if (!head_.empty()) {
      got = std::min(head_.size(), into.size());
      std::memcpy(into.data(), head_.data(), got);
      head_.erase(0, got);
    } else {
      got = fetch(into);
    }
    read_ += got;
    return got;
  }
  bool is_gzip() const { return head_ == gzip_mark; }
  void go_to(std::uint64_t offset) {
    head_.clear();
    if (::lseek(fd_, static_cast<off_t>(offset), SEEK_SET) < 0) refuse();
    read_ = offset;
  }
  const std::string& identity() const { return identity_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t bytes_read() const { return read_; }

private:
  std::size_t fetch(std::span<char> into) const {
    while (true) {
      const ssize_t got = ::read(fd_, into.data(), into.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) refuse();
    }
  }
  [[noreturn]] void refuse() const {
    throw refused(fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
  }

  std::string name_;
  int fd_ = -1;
  std::string head_;
  std::string identity_;
  std::uint64_t size_ = 0;
  std::uint64_t read_ = 0;
};

input::input(const std::string& path) : name_(kmer::shown_name(path)), buffer_(block_bytes) {
  auto source = std::make_unique<file>(path, name_);
  file_ = source.get();
  size_ = source->size();
  is_packed_ = source->is_gzip();
  identity_ = source->identity();
  if (is_packed_) bytes_ = kmer::inflate(std::move(source), name_);
  else bytes_ = std::move(source);
  skip_byte_order_mark();
}

input::~input() = default;

std::uint64_t input::bytes_read() const { return file_->bytes_read(); }

void input::look_at(const std::string& path) {
  struct stat about{};
  if (::access(path.c_str(), R_OK) != 0 || ::stat(path.c_str(), &about) != 0)
    throw refused(fmt::format("{}: cannot be read: {}; check the path", path, std::strerror(errno)));
  if (S_ISDIR(about.st_mode)) throw refused(fmt::format("{}: is a folder; give a file of records", path));
}

std::string input::identity_of(const std::string& path) {
  struct stat about{};
  if (path == "-" || ::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
  return identity_in(about);
}

bool input::refill() {
  if (ended_) return false;
  if (begin_ != 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size()); // a line longer than the buffer
  const std::size_t got = bytes_->read({buffer_.data() + end_, buffer_.size() - end_});
  ended_ = got == 0;
  end_ += got;
  return !ended_;
}

// It reads no further than it must: the rest of a stream may come much later.
void input::skip_byte_order_mark() {
  while (end_ < byte_order_mark.size() && byte_order_mark.starts_with({buffer_.data(), end_}) && refill()) {
  }
  if (std::string_view(buffer_.data(), end_).starts_with(byte_order_mark)) take(byte_order_mark.size());
}

void input::take(std::size_t count) {
  if (identity_.empty())
    at_.sum = ::crc64_ecma_refl(at_.sum, reinterpret_cast<const unsigned char*>(buffer_.data() + begin_), count);
  begin_ += count;
  at_.offset += count;
}

bool input::next(std::string_view& line) {
  std::size_t seen = 0; // bytes of the line in which there is no end
  while (true) {
    const char* const from = buffer_.data() + begin_;
    const void* const found = std::memchr(from + seen, '\n', end_ - begin_ - seen);
    if (found != nullptr) {
      line = {from, static_cast<std::size_t>(static_cast<const char*>(found) - from)};
      take(line.size() + 1);
      break;
    }
    seen = end_ - begin_;
    if (refill()) continue;
    if (seen == 0) return false;
    line = {buffer_.data() + begin_, seen};
    ends_within_line_ = true;
    take(seen);
    break;
  }
  ++at_.line;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

char input::first() {
  while (true) {
    for (std::size_t at = begin_; at < end_; ++at)
      if (std::strchr(" \t\r\n", buffer_[at]) == nullptr || buffer_[at] == '\0') return buffer_[at];
    if (!refill()) return 0;
  }
}

bool input::go_to(const input_place& place) {
  if (place.file != identity_) return false;
  if (!is_packed_ && !identity_.empty()) {
    file_->go_to(place.at.offset);
    begin_ = end_ = 0;
    ended_ = false;
    at_ = place.at;
    return true;
  }
  while (at_.offset < place.at.offset) {
    if (begin_ == end_ && !refill()) return false;
    take(static_cast<std::size_t>(std::min<std::uint64_t>(end_ - begin_, place.at.offset - at_.offset)));
  }
  at_.line = place.at.line;
  return at_.sum == place.at.sum;
}

} // namespace store
