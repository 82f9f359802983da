// SPDX-License-Identifier: Apache-2.0
// A file may be removed when its lock is free. So its maker locks it first, and then checks that it is still there.
#include "partial_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/core.h>
#include <random>
#include <string_view>
#include <sys/file.h>
#include <unistd.h>

#include "output_place.hpp"

namespace kmer {

namespace {

namespace fs = std::filesystem;

constexpr int most_attempts = 100;
constexpr std::size_t random_letters = 16;
constexpr std::size_t longest_own_part = 200; // of 255 letters
constexpr const char* partial_ending = "partial";

std::string own_part(const std::string& path) { return fs::path(path).filename().string().substr(0, longest_own_part); }

// Where there are no locks the file is used without one, and no program takes away what it cannot lock.
bool is_locked_by_another(int fd) { return ::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; }

bool has_name(int fd, const std::string& name) {
  struct stat about{};
  return ::lstat(name.c_str(), &about) == 0 && is_one_thing(status_of(fd), about);
}

bool is_partial_of(std::string_view name, std::string_view own) {
  const std::string ending = fmt::format(".{}", partial_ending);
  if (name.size() != own.size() + 1 + random_letters + ending.size()) return false;
  if (!name.starts_with(own) || name[own.size()] != '.' || !name.ends_with(ending)) return false;
  const std::string_view letters = name.substr(own.size() + 1, random_letters);
  return letters.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void remove_if_stale(const std::string& name) {
  const int fd = ::open(name.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  const file_status about = status_of(fd);
  if (about && S_ISREG(about->st_mode) && ::flock(fd, LOCK_EX | LOCK_NB) == 0 && has_name(fd, name))
    ::unlink(name.c_str());
  ::close(fd);
}

// Where /proc has an open file. A file without a name gets one by this link; where /proc is not mounted there is none.
std::string link_to(int fd) { return fmt::format("/proc/self/fd/{}", fd); }
bool can_be_named(int fd) { return ::access(link_to(fd).c_str(), F_OK) == 0; }

} // namespace

std::string name_beside(const std::string& path, const char* ending) {
  std::random_device random;
  const std::string name = fmt::format("{}.{:08x}{:08x}.{}", own_part(path), random(), random(), ending);
  return fs::path(path).parent_path() / name;
}

partial_file make_partial(const std::string& path, mode_t mode) {
  for (int i = 0; i < most_attempts; ++i) {
    const std::string name = name_beside(path, partial_ending);
    const int fd = ::open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) return {};
    if (!is_locked_by_another(fd) && has_name(fd, name)) return {fd, name};
    ::close(fd);
  }
  errno = EEXIST;
  return {};
}

partial_file make_unnamed(const std::string& path, mode_t mode) {
  const fs::path folder = fs::path(path).parent_path();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  const bool needs_name = fd < 0 ? errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL : !can_be_named(fd);
  if (!needs_name) return {fd, {}};
  if (fd >= 0) ::close(fd);
  return make_partial(path, mode); // only what was made here is taken away again
}

std::string name_partial(int fd, const std::string& path) {
  static_cast<void>(is_locked_by_another(fd)); // no other program has it: the lock is there before the name
  for (int i = 0; i < most_attempts; ++i) {
    const std::string name = name_beside(path, partial_ending);
    if (::linkat(AT_FDCWD, link_to(fd).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return name;
    if (errno != EEXIST) break;
  }
  return {};
}

void remove_stale_partials(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code none;
  for (fs::directory_iterator at(folder.empty() ? "." : folder, none); !none && at != fs::directory_iterator();
       at.increment(none))
    if (is_partial_of(at->path().filename().string(), own_part(path))) remove_if_stale(at->path());
}

} // namespace kmer
