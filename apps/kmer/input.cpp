// SPDX-License-Identifier: Apache-2.0
// The first bytes of an input say what it is; its name never does. They are read, and then given again.
#include "input.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "error.hpp"
#include "gzip.hpp"
#include "gzip_header.hpp"

namespace kmer {

namespace {

class file_source : public byte_source {
public:
  explicit file_source(const std::string& path) : name_(shown_name(path)) {
    if (path == "-") {
      fd_ = STDIN_FILENO;
      return;
    }
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about{};
    if (fd_ < 0 || ::fstat(fd_, &about) != 0)
      throw bad_input(fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
    if (S_ISDIR(about.st_mode)) throw bad_input(fmt::format("{}: is a folder; give a file of sequences", name_));
    ::posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  ~file_source() override {
    if (fd_ > STDIN_FILENO) ::close(fd_);
  }
  file_source(const file_source&) = delete;
  file_source& operator=(const file_source&) = delete;

  std::size_t read(std::span<char> into) override {
    while (true) {
      const ssize_t got = ::read(fd_, into.data(), into.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) throw bad_input(fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
    }
  }

  std::uint64_t size() const {
    struct stat about{};
    return ::fstat(fd_, &about) == 0 ? static_cast<std::uint64_t>(about.st_size) : 0;
  }
  // So many bytes as there are.
  std::size_t read_at(std::uint64_t offset, std::span<char> into) const {
    std::size_t have = 0;
    while (have < into.size()) {
      const ssize_t got = ::pread(fd_, into.data() + have, into.size() - have, static_cast<off_t>(offset + have));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw bad_input(fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
      if (got == 0) break;
      have += static_cast<std::size_t>(got);
    }
    return have;
  }

private:
  std::string name_;
  int fd_ = -1;
};

// Gives the bytes that were read before, then the rest.
class begun_source : public byte_source {
public:
  begun_source(std::string head, std::unique_ptr<byte_source> rest) : head_(std::move(head)), rest_(std::move(rest)) {}
  std::size_t read(std::span<char> into) override {
    if (at_ == head_.size()) return rest_->read(into);
    const std::size_t count = std::min(into.size(), head_.size() - at_);
    std::memcpy(into.data(), head_.data() + at_, count);
    at_ += count;
    return count;
  }

private:
  std::string head_;
  std::size_t at_ = 0;
  std::unique_ptr<byte_source> rest_;
};

// Up to `count` bytes of the beginning, and a source that still has them.
std::string look(std::unique_ptr<byte_source>& source, std::size_t count) {
  std::string head(count, '\0');
  std::size_t have = 0;
  while (have < count) {
    const std::size_t got = source->read({head.data() + have, count - have});
    if (got == 0) break;
    have += got;
  }
  head.resize(have);
  source = std::make_unique<begun_source>(head, std::move(source));
  return head;
}

bool begins_with(std::string_view head, std::initializer_list<unsigned char> magic) {
  if (head.size() < magic.size()) return false;
  return std::equal(magic.begin(), magic.end(), head.begin(),
                    [](unsigned char want, char have) { return want == static_cast<unsigned char>(have); });
}

// The last bytes of a file, at most so many.
std::string end_of(const std::string& path, std::size_t count) {
  const file_source file(path);
  const std::uint64_t size = file.size();
  std::string tail(std::min<std::uint64_t>(size, count), '\0');
  tail.resize(file.read_at(size - tail.size(), tail));
  return tail;
}

void refuse_other_formats(std::string_view head, const std::string& name) {
  const char* what = begins_with(head, {'B', 'Z', 'h'})                 ? "bzip2"
                     : begins_with(head, {0xfd, '7', 'z', 'X', 'Z', 0}) ? "xz"
                     : begins_with(head, {0x28, 0xb5, 0x2f, 0xfd})      ? "zstd"
                     : begins_with(head, {'P', 'K', 3, 4})              ? "zip"
                                                                        : nullptr;
  if (what != nullptr)
    throw bad_input(fmt::format("{}: is compressed with {}; give it as gzip or plain, or through a pipe", name, what));
  if (head.starts_with("@HD\tVN:") || head.starts_with("@SQ\tSN:"))
    throw bad_input(fmt::format("{}: is SAM; give it through `samtools view -b`", name));
}

} // namespace

std::string shown_name(const std::string& path) { return path == "-" ? "standard input" : path; }

opened_input open_input(const std::string& path) {
  std::unique_ptr<byte_source> source = std::make_unique<file_source>(path);
  const std::string head = look(source, 18);
  if (begins_with(head, {'C', 'R', 'A', 'M'}) && head.size() > 5)
    return {input_kind::alignment, std::move(source), false, mark_of_cram(head),
            fmt::format("CRAM {:d}.{:d}", head[4], head[5])};
  if (!begins_with(head, {0x1f, 0x8b})) {
    refuse_other_formats(head, shown_name(path));
    return {input_kind::text, std::move(source), false, end_mark::none, {}};
  }
  // BAM is gzip, too; its own mark is inside the first member. 64 KiB hold that, for any compression.
  const std::string more = look(source, std::size_t{1} << 16);
  class kept : public byte_source {
  public:
    explicit kept(const std::string& bytes) : bytes_(bytes) {}
    std::size_t read(std::span<char> into) override {
      const std::size_t count = std::min(into.size(), bytes_.size() - at_);
      std::memcpy(into.data(), bytes_.data() + at_, count);
      at_ += count;
      return count;
    }

  private:
    const std::string& bytes_;
    std::size_t at_ = 0;
  };
  std::array<char, 4> inside{};
  try {
    const auto trial = inflate(std::make_unique<kept>(more), shown_name(path));
    for (std::size_t have = 0, got = 1; have < inside.size() && got != 0; have += got)
      got = trial->read({inside.data() + have, inside.size() - have});
  } catch (const bad_input&) {
    inside = {}; // a thread that reads it in earnest says what is wrong
  }
  if (begins_with({inside.data(), inside.size()}, {'B', 'A', 'M', 1}))
    return {input_kind::alignment, std::move(source), true, begins_with_bgzf(more) ? end_mark::bgzf : end_mark::none,
            "BAM in gzip that is not bgzf"};
  return {input_kind::text, inflate(std::move(source), shown_name(path)), true, end_mark::none, {}};
}

std::string unmarked(const std::string& name, const char* through) {
  return fmt::format("{}: has no end-of-file mark: it is truncated, or its writer leaves the mark out; if it is whole, "
                     "give it through `{}`",
                     name, through);
}

void check_end(const std::string& path, const opened_input& input) {
  const bool is_text = input.kind == input_kind::text;
  if (is_text && !input.is_packed) return;
  const std::string tail = end_of(path, is_text ? longest_bgzf_block : longest_end_mark);
  if (is_text ? ends_unmarked(tail) : !is_marked(input.mark, tail))
    throw bad_input(unmarked(path, is_text ? "gzip -dc" : "samtools view -b"));
}

} // namespace kmer
