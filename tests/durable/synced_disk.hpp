// SPDX-License-Identifier: Apache-2.0
// A disk that has what syncs have covered and nothing else. That is the hardest power cut for a log: no page has a change that only the log
// has. Only in tests with hooks.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "durable/files.hpp"

#include <sys/stat.h>

namespace cubby_test {

/// What syncs have made durable of one file.
struct disk {
  std::string path;
  std::mutex lock; // of `durable`: the table's own threads sync as well
  bytes durable;
  std::atomic<int> syncs{0};
  std::atomic<int> log_syncs{0};
  std::function<void()> in_sync;     // called before a sync of the whole file
  std::function<void()> in_log_sync; // called before a sync of a part that is not the superblock
  [[nodiscard]] bool is_here(int file) const {
    struct stat synced = {};
    struct stat watched = {};
    return fstat(file, &synced) == 0 && stat(path.c_str(), &watched) == 0 && synced.st_ino == watched.st_ino;
  }
};
inline disk*& watched_disk() {
  static disk* one = nullptr;
  return one;
}
inline int sync_whole(int file) {
  disk& d = *watched_disk();
  if (!d.is_here(file)) return 0;
  ++d.syncs;
  if (d.in_sync) d.in_sync();
  const std::lock_guard alone(d.lock);
  d.durable = bytes_in(d.path);
  return 0;
}
inline int sync_part(int file, std::uint64_t from, std::uint64_t count) {
  disk& d = *watched_disk();
  if (!d.is_here(file)) return 0;
  const bool is_log = from >= pool_layout::first_extent;
  d.log_syncs += is_log ? 1 : 0;
  if (is_log && d.in_log_sync) d.in_log_sync();
  const std::lock_guard alone(d.lock);
  const bytes now = bytes_in(d.path);
  EXPECT_LE(from + count, d.durable.size()) << "no sync has covered the size of the file";
  const auto begin = static_cast<std::ptrdiff_t>(from);
  std::copy_n(now.begin() + begin, static_cast<std::ptrdiff_t>(count), d.durable.begin() + begin);
  return 0;
}

class watched_files : public testing::Test {
protected:
  void SetUp() override {
    disk_.path = folder_.file("table");
    watched_disk() = &disk_;
    cubby::detail::file::installed_sync() = sync_whole;
    cubby::detail::file::installed_sync_range() = sync_part;
  }
  void TearDown() override {
    cubby::detail::file::installed_sync() = nullptr;
    cubby::detail::file::installed_sync_range() = nullptr;
  }
  /// Without growths, so that no checkpoint begins by itself.
  static cubby::durable_options with_log(std::size_t bytes = std::size_t{1} << 20) {
    return {.capacity = 1000, .log_bytes = bytes};
  }
  /// A file with what the power cut has left.
  std::string cut(const char* name = "cut") {
    bytes left = [&] {
      const std::lock_guard alone(disk_.lock);
      return disk_.durable;
    }();
    forge_power_cut(left);
    write_file(folder_.file(name), left);
    return folder_.file(name);
  }
  template <class Table> static bool checkpoint(Table& t) {
    auto& engine = cubby::detail::engine_access::of(t);
    return engine.checkpoint(*engine.local_thread_record());
  }
  /// A text whose record is in sectors of its own, so that a power cut can tear it alone.
  static std::string long_value(std::uint64_t number) { return std::to_string(number) + std::string(2000, ' '); }
  /// What a power cut leaves of a file that has all of `now` on its disk, but not this value.
  std::string torn(bytes now, const std::string& value) {
    bool any = false;
    for (auto from = now.begin();; any = true) { // the record, and its entry in the log, which no sync has covered
      const auto at = std::search(from, now.end(), value.begin(), value.end());
      if (at == now.end()) break;
      from = at + 1024;
      std::fill(at + 512, from, 'x');
    }
    EXPECT_TRUE(any);
    forge_power_cut(now);
    write_file(folder_.file("torn"), now);
    return folder_.file("torn");
  }
  own_folder folder_;
  disk disk_;
};

using text_table = cubby::durable_map<std::string, std::string>;

using word_table = cubby::durable_map<std::uint64_t, std::uint64_t>;
class watched_words : public watched_files {
protected:
  std::optional<std::uint64_t> left_of(std::uint64_t key) { return must_open<word_table>(cut())->find(key); }
};

} // namespace cubby_test
