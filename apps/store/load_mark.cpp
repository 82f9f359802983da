// SPDX-License-Identifier: Apache-2.0
// Written beside, synced, and renamed.
#include "load_mark.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "error.hpp"

namespace store {

namespace {

using nlohmann::ordered_json;

std::string text_of(const load_mark& mark) {
  ordered_json all;
  all["cubby_load"] = 1;
  all["table"] = mark.of.file;
  all["sequence"] = mark.of.sequence;
  all["request"] = mark.request;
  all["records"] = mark.records;
  all["places"] = ordered_json::array();
  for (const input_place& p : mark.places)
    all["places"].push_back({{"file", p.file}, {"offset", p.at.offset}, {"line", p.at.line}, {"sum", p.at.sum}});
  return all.dump(1) + "\n";
}

load_mark mark_of(const ordered_json& all) {
  load_mark mark;
  if (all.at("cubby_load") != 1) throw std::invalid_argument("version");
  mark.of.file = all.at("table");
  mark.of.sequence = all.at("sequence");
  mark.request = all.at("request");
  mark.records = all.at("records");
  for (const ordered_json& p : all.at("places"))
    mark.places.push_back({p.at("file"), {p.at("offset"), p.at("line"), p.at("sum")}});
  return mark;
}

// 0 or an error.
int write_and_sync(const std::string& path, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  int error = 0;
  for (std::size_t done = 0; done < text.size() && error == 0;) {
    const ssize_t now = ::write(fd, text.data() + done, text.size() - done);
    if (now >= 0) done += static_cast<std::size_t>(now);
    else if (errno != EINTR) error = errno;
  }
  if (error == 0 && ::fsync(fd) != 0) error = errno;
  ::close(fd);
  return error;
}

} // namespace

void load_mark_file::refuse(const char* doing) const {
  throw refused(
      fmt::format("{}: cannot be {}: {}; it says how far the load has come", path_, doing, std::strerror(errno)));
}

bool load_mark_file::read(load_mark& into) const {
  struct stat about{};
  if (::lstat(path_.c_str(), &about) != 0) {
    if (errno != ENOENT) refuse("read");
    return false;
  }
  std::ifstream in(path_, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  try {
    into = mark_of(ordered_json::parse(text));
  } catch (const std::exception&) { // also of what is no JSON
    throw refused(
        fmt::format("{}: not a file of `cubby store load`, which needs this name to note how far it has come; "
                    "move it away",
                    path_));
  }
  return true;
}

void load_mark_file::write(const load_mark& mark) const {
  const std::string beside = path_ + ".new";
  errno = write_and_sync(beside, text_of(mark));
  if (errno == 0 && std::rename(beside.c_str(), path_.c_str()) == 0) return sync_folder();
  const int error = errno;
  ::unlink(beside.c_str());
  errno = error;
  refuse("written");
}

void load_mark_file::remove() const {
  if (::unlink(path_.c_str()) != 0 && errno != ENOENT) refuse("removed");
  sync_folder();
}

void load_mark_file::sync_folder() const {
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool done = fd >= 0 && (::fsync(fd) == 0 || errno == EINVAL); // of a file system that has nothing to sync
  const int error = errno;
  if (fd >= 0) ::close(fd);
  errno = error;
  if (!done) refuse("written");
}

} // namespace store
