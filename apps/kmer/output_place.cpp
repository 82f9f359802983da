// SPDX-License-Identifier: Apache-2.0
// Links are followed by hand: what the text of a link below /proc/self/fd says need not be what it opens.
#include "output_place.hpp"

#include <charconv>
#include <filesystem>
#include <unistd.h>

namespace kmer {

namespace {

namespace fs = std::filesystem;

// -1: the name of no descriptor.
int descriptor_named(const fs::path& at) {
  std::error_code none;
  const fs::path folder = fs::canonical(at.parent_path(), none);
  if (folder.empty() || folder != fs::canonical("/proc/self/fd", none)) return -1;
  const std::string name = at.filename();
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : -1;
}

// Made absolute first: what does not exist yet would stay relative.
fs::path whole_path(const std::string& path) {
  std::error_code none;
  return fs::weakly_canonical(fs::absolute(path, none), none);
}

} // namespace

output_place place_of(const std::string& name) {
  if (name == "-") return {name, STDOUT_FILENO};
  constexpr int most_links = 40; // as many as the kernel follows
  fs::path at = name;
  std::error_code none;
  for (int i = 0; i < most_links; ++i) {
    if (const int number = descriptor_named(at); number >= 0) return {name, number};
    if (!fs::is_symlink(at, none)) break;
    at = at.parent_path() / fs::read_symlink(at, none);
  }
  return {at, -1};
}

file_status status_of(const std::string& name) {
  struct stat about{};
  return ::stat(name.c_str(), &about) == 0 ? file_status(about) : std::nullopt;
}

file_status status_of(int descriptor) {
  struct stat about{};
  return ::fstat(descriptor, &about) == 0 ? file_status(about) : std::nullopt;
}

file_status status_of(const output_place& place) {
  return place.descriptor >= 0 ? status_of(place.descriptor) : status_of(place.path);
}

bool is_one_thing(const file_status& one, const file_status& other) {
  return one && other && !S_ISCHR(one->st_mode) && one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

bool is_written_directly(const output_place& place) {
  if (place.descriptor >= 0) return true;
  const file_status about = status_of(place.path);
  return about && !S_ISREG(about->st_mode) && !S_ISDIR(about->st_mode);
}

bool is_one_output(const std::string& name, const std::string& other) {
  const output_place a = place_of(name), b = place_of(other);
  if (a.descriptor >= 0 && a.descriptor == b.descriptor) return true;
  if (is_written_directly(a) || is_written_directly(b)) return is_one_thing(status_of(a), status_of(b));
  return whole_path(a.path) == whole_path(b.path);
}

std::string folder_beside(const std::string& name) {
  const output_place place = place_of(name);
  const std::string folder = is_written_directly(place) ? fs::path() : fs::path(place.path).parent_path();
  return folder.empty() ? "." : folder;
}

} // namespace kmer
