// SPDX-License-Identifier: Apache-2.0
// Written beside, synced, and renamed. No file that another program has made is opened for writing, or removed.
#include "load_mark.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "../kmer/partial_file.hpp"
#include "error.hpp"

namespace store {

namespace {

using nlohmann::ordered_json;

constexpr int version = 2; // since marks have words

std::string text_of(const load_mark& mark) {
  ordered_json all;
  all["cubby_load"] = version;
  all["table"] = mark.table;
  all["note"] = mark.note;
  all["next"] = mark.next;
  all["exact"] = mark.is_exact;
  all["request"] = mark.request;
  all["records"] = mark.records;
  all["places"] = ordered_json::array();
  for (const input_place& p : mark.places)
    all["places"].push_back({{"file", p.file}, {"offset", p.at.offset}, {"line", p.at.line}, {"sum", p.at.sum}});
  return all.dump(1) + "\n";
}

load_mark mark_of(const ordered_json& all) {
  load_mark mark;
  if (all.at("cubby_load") == 1) return mark; // without a word, so it counts for no table
  if (all.at("cubby_load") != version) throw std::invalid_argument("version");
  mark.table = all.at("table");
  mark.note = all.at("note");
  mark.next = all.at("next");
  mark.is_exact = all.at("exact");
  mark.request = all.at("request");
  mark.records = all.at("records");
  for (const ordered_json& p : all.at("places"))
    mark.places.push_back({p.at("file"), {p.at("offset"), p.at("line"), p.at("sum")}});
  return mark;
}

// 0 or an error.
int write_and_sync(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(fd, text.data(), text.size());
    if (done >= 0) text.remove_prefix(static_cast<std::size_t>(done));
    else if (errno != EINTR) return errno;
  }
  return ::fsync(fd) == 0 ? 0 : errno;
}
int read_all(int fd, std::string& into) {
  char block[65536];
  while (true) {
    const ssize_t got = ::read(fd, block, sizeof block);
    if (got == 0) return 0;
    if (got > 0) into.append(block, static_cast<std::size_t>(got));
    else if (errno != EINTR) return errno;
  }
}

} // namespace

void load_mark_file::refuse(const char* doing) const {
  throw refused(
      fmt::format("{}: cannot be {}: {}; it says how far the load has come", path_, doing, std::strerror(errno)));
}

void load_mark_file::refuse_foreign() const {
  throw refused(fmt::format("{}: not a file of `cubby store load`, which needs this name to note how far it has come; "
                            "move it away",
                            path_));
}

// A FIFO would be waited for, and a link leads to a file that is somebody's.
bool load_mark_file::read(load_mark& into) const {
  const int fd = ::open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return false;
  if (fd < 0 && errno != ELOOP) refuse("read");
  struct stat about{};
  const bool is_file = fd >= 0 && ::fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
  std::string text;
  const int error = is_file ? read_all(fd, text) : 0;
  if (fd >= 0) ::close(fd);
  if (!is_file) refuse_foreign();
  errno = error;
  if (error != 0) refuse("read");
  try {
    into = mark_of(ordered_json::parse(text));
  } catch (const std::exception&) { // also of what is no JSON
    refuse_foreign();
  }
  return true;
}

// 0 or an error.
int load_mark_file::replace_by(const std::string& text) const {
  kmer::partial_file beside = kmer::make_unnamed(path_, 0600);
  if (beside.fd < 0) return errno;
  int error = write_and_sync(beside.fd, text);
  if (error == 0 && beside.name.empty()) {
    beside.name = kmer::name_partial(beside.fd, path_);
    if (beside.name.empty()) error = errno;
  }
  if (error == 0 && std::rename(beside.name.c_str(), path_.c_str()) != 0) error = errno;
  if (error != 0 && !beside.name.empty()) ::unlink(beside.name.c_str());
  ::close(beside.fd); // and with it the lock of the name
  return error;
}

void load_mark_file::write(const load_mark& mark) const {
  errno = replace_by(text_of(mark));
  if (errno != 0) refuse("written");
  sync_folder();
}

void load_mark_file::clean() const { kmer::remove_stale_partials(path_); }

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
