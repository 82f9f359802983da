// SPDX-License-Identifier: Apache-2.0
// Files for the tests of durable tables: a folder of each test's own, the bytes of a file, and superblocks that are forged.
// CUBBY_TEST_FOLDER names the folder in which they are made. Else that is /dev/shm, where a sync costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/durable_map.hpp>

#include <fcntl.h>
#include <unistd.h>

namespace cubby_test {

namespace pool_layout = cubby::detail::pool_layout;

/// A folder that is removed with all its files.
class own_folder {
public:
  explicit own_folder(const std::string& parent = usual_parent()) {
    std::string name = parent + "/cubby_durable_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::filesystem::filesystem_error("mkdtemp", name, {});
    path_ = name;
  }
  ~own_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  own_folder(const own_folder&) = delete;
  own_folder& operator=(const own_folder&) = delete;
  [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }

private:
  static std::string usual_parent() {
    const char* const wanted = std::getenv("CUBBY_TEST_FOLDER");
    if (wanted != nullptr) return wanted;
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path().string();
  }
  std::filesystem::path path_;
};

using bytes = std::vector<char>;

inline bytes bytes_in(const std::string& path) {
  std::error_code none;
  const auto size = std::filesystem::file_size(path, none);
  bytes out(none ? 0 : static_cast<std::size_t>(size));
  std::ifstream in(path, std::ios::binary);
  in.read(out.data(), static_cast<std::streamsize>(out.size()));
  out.resize(static_cast<std::size_t>(in.gcount()));
  return out;
}
inline void write_file(const std::string& path, const bytes& all) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(all.data(), static_cast<std::streamsize>(all.size()));
  out.flush();
  ASSERT_TRUE(out.good()) << path;
}
/// Cuts a file, or adds zeros at its end.
inline void resize_file(const std::string& path, std::uint64_t size) {
  ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(size)), 0) << path;
}

template <class T> T read_at(const bytes& all, std::uint64_t from) {
  T out;
  std::memcpy(static_cast<void*>(&out), all.data() + from, sizeof out);
  return out;
}
template <class T> void write_at(bytes& all, std::uint64_t from, const T& what) {
  std::memcpy(all.data() + from, static_cast<const void*>(&what), sizeof what);
}

/// Where the superblock stands that counts.
inline std::uint64_t offset_of_superblock(const bytes& all) {
  std::uint64_t newest = 0;
  std::uint64_t sequence = 0;
  for (const std::uint64_t at : pool_layout::copy_at) {
    const auto one = read_at<pool_layout::superblock>(all, at);
    if (one.checksum != pool_layout::checksum_of(one) || one.sequence < sequence) continue;
    newest = at;
    sequence = one.sequence;
  }
  return newest;
}
/// Changes the superblock that counts, and its checksum with it.
template <class Change> void forge_superblock(bytes& all, Change change) {
  const std::uint64_t where = offset_of_superblock(all);
  auto one = read_at<pool_layout::superblock>(all, where);
  change(one);
  one.checksum = pool_layout::checksum_of(one);
  write_at(all, where, one);
}
/// Makes a file as a crash leaves it: not closed.
inline void forge_not_closed(bytes& all) {
  forge_superblock(all, [](pool_layout::superblock& s) { s.clean = 0; });
}
/// The same, with a restart of the machine since.
inline void forge_power_cut(bytes& all) {
  forge_superblock(all, [](pool_layout::superblock& s) {
    s.clean = 0;
    ++s.boot[0];
  });
}

/// Opens a table that must be there.
template <class Table>
std::unique_ptr<Table> must_open(const std::string& path, const cubby::durable_options& wanted = {}) {
  auto one = Table::open(path.c_str(), wanted);
  EXPECT_TRUE(one) << one.message();
  return one.take();
}

} // namespace cubby_test
