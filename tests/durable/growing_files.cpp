// SPDX-License-Identifier: Apache-2.0
// Files that grow: in memory they get huge pages, what was refused leaves them as they were, and threads that need no space do not wait
// for the one that takes it.
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <cubby/seph.hpp>

#include "durable/faults.hpp"
#include "durable/files.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

namespace cubby_test {
namespace {

namespace file = cubby::detail::file;
using word = std::uint64_t;
using sixteen = std::array<word, 2>;
using words = cubby::durable_map<word, word>;
using records = cubby::durable_map<sixteen, sixteen, cubby::hash<sixteen>, cubby::seph>;

/// Whether Linux makes huge pages of the small ones of a file in this folder.
bool can_collapse(const std::string& path) {
  constexpr int collapse = 25; // MADV_COLLAPSE
  file::descriptor probe;
  if (probe.open(path.c_str(), O_RDWR | O_CREAT) != 0 || file::take_space(probe.number(), 0, file::huge_page) != 0)
    return false;
  std::byte* const at = file::reserve(file::huge_page);
  if (at == nullptr) return false;
  const bool mapped = file::map(probe.number(), at, 0, file::huge_page, false, false) == 0;
  const bool done = mapped && madvise(at, file::huge_page, collapse) == 0;
  file::unmap(at, file::huge_page);
  return done && file::is_in_memory(probe.number());
}
/// Bytes of huge pages that this process has mapped of a file.
word huge_bytes_of(const std::string& path) {
  std::ifstream in("/proc/self/smaps");
  word sum = 0;
  bool of_it = false;
  for (std::string line; std::getline(in, line);) {
    if (line.find('-') < line.find(' ')) of_it = line.find(path) != std::string::npos;
    else if (of_it && line.starts_with("ShmemPmdMapped:")) sum += std::stoull(line.substr(15)) * 1024;
  }
  return sum;
}

/// Disk space or memory that a file has, in units of 512 bytes.
word blocks_of(const std::string& path) {
  struct stat about{};
  return stat(path.c_str(), &about) == 0 ? static_cast<word>(about.st_blocks) : 0;
}

TEST(durable_growing_file, in_memory_has_huge_pages) {
  const own_folder folder;
  if (!can_collapse(folder.file("probe"))) GTEST_SKIP() << "no huge pages are to be had here";
  cubby::durable_options wanted;
  wanted.survives = cubby::survive::process;
  wanted.capacity = 1'000'000;
  const auto t = must_open<words>(folder.file("table"), wanted);
  ASSERT_NE(t, nullptr);
  EXPECT_GE(huge_bytes_of(folder.file("table")), t->stats().file_bytes / 10 * 8);
}

TEST(durable_growing_file, in_memory_has_huge_pages_again_after_a_shrink) {
  const own_folder folder;
  if (!can_collapse(folder.file("probe"))) GTEST_SKIP() << "no huge pages are to be had here";
  cubby::durable_options wanted;
  wanted.survives = cubby::survive::process;
  const auto t = must_open<words>(folder.file("table"), wanted);
  ASSERT_NE(t, nullptr);
  ASSERT_TRUE(t->reserve(1'000'000));
  ASSERT_TRUE(t->shrink_to_fit());
  ASSERT_LT(huge_bytes_of(folder.file("table")), t->stats().file_bytes / 4) << "nothing was given back";
  ASSERT_TRUE(t->reserve(1'000'000));
  EXPECT_GE(huge_bytes_of(folder.file("table")), t->stats().file_bytes / 10 * 8);
}

TEST(durable_growing_file, that_is_refused_space_after_a_shrink_takes_none) {
  const own_folder folder;
  cubby::durable_options wanted;
  wanted.survives = cubby::survive::process;
  const auto t = must_open<words>(folder.file("table"), wanted);
  ASSERT_NE(t, nullptr);
  ASSERT_TRUE(t->reserve(1'000'000));
  const word whole = blocks_of(folder.file("table"));
  ASSERT_TRUE(t->shrink_to_fit());
  long asked = 1000;
  {
    const full_disk all(asked);
    ASSERT_TRUE(t->reserve(1'000'000));
    asked -= full_disk::left();
  }
  ASSERT_TRUE(t->shrink_to_fit());
  if (blocks_of(folder.file("table")) > whole / 4) GTEST_SKIP() << "this file system makes no holes";
  {
    const full_disk all_but_the_last(asked - 1); // which is half of the table
    EXPECT_FALSE(t->reserve(1'000'000));
  }
  EXPECT_LT(blocks_of(folder.file("table")), whole / 4 * 3) << "what was refused stays";
  EXPECT_TRUE(t->reserve(1'000'000));
}

TEST(durable_growing_file, that_is_refused_space_stays_as_long_as_it_was) {
  const own_folder folder;
  cubby::durable_options wanted;
  wanted.survives = cubby::survive::process;
  const auto t = must_open<records>(folder.file("table"), wanted);
  ASSERT_NE(t, nullptr);
  ASSERT_TRUE(t->insert(sixteen{1, 1}, sixteen{1, 1}));
  const auto before = std::filesystem::file_size(folder.file("table"));
  const full_disk none(0);
  word n = 2;
  while (t->try_insert(sixteen{n, n}, sixteen{n, n}) == cubby::outcome::inserted) ++n;
  EXPECT_GT(n, 100U);
  EXPECT_EQ(std::filesystem::file_size(folder.file("table")), before);
}

/// A block of that size more, which no other record could use, would be a third of the file.
TEST(durable_growing_file, takes_nothing_ahead_for_large_records) {
  const own_folder folder;
  cubby::durable_options wanted;
  wanted.survives = cubby::survive::process;
  const auto t = must_open<cubby::durable_map<std::string, std::string>>(folder.file("table"), wanted);
  ASSERT_NE(t, nullptr);
  const word before = t->stats().file_bytes;
  ASSERT_TRUE(t->insert("key", std::string(3'000'000, 'x')));
  EXPECT_LT(t->stats().file_bytes - before, 5'000'000U);
}

/// The first request for space waits until `leave`.
struct slow_disk {
  static std::atomic<bool>& asked() {
    static std::atomic<bool> one{false};
    return one;
  }
  static std::atomic<bool>& may_go() {
    static std::atomic<bool> one{false};
    return one;
  }
  slow_disk() {
    asked() = may_go() = false;
    file::installed_refusal() = [] {
      if (!asked().exchange(true))
        while (!may_go()) std::this_thread::yield();
      return 0;
    };
  }
  ~slow_disk() { file::installed_refusal() = nullptr; }
  slow_disk(const slow_disk&) = delete;
  slow_disk& operator=(const slow_disk&) = delete;
};

TEST(durable_growing_file, takes_inserts_of_others_while_one_waits_for_the_disk) {
  const own_folder folder;
  cubby::durable_options wanted;
  wanted.survives = cubby::survive::process;
  const auto t = must_open<records>(folder.file("table"), wanted);
  ASSERT_NE(t, nullptr);
  ASSERT_TRUE(t->insert(sixteen{0, 0}, sixteen{0, 0}));
  const slow_disk disk;
  std::thread filler([&] {
    for (word n = 1; !slow_disk::asked(); ++n) EXPECT_TRUE(t->insert(sixteen{n, 1}, sixteen{n, n}));
  });
  while (!slow_disk::asked()) std::this_thread::yield();
  std::atomic<unsigned> done{0};
  std::thread other([&] {
    for (word n = 1; n <= 50; ++n) {
      EXPECT_TRUE(t->insert(sixteen{n, 2}, sixteen{n, n}));
      ++done;
    }
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (done < 50 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(done, 50U);
  slow_disk::may_go() = true;
  filler.join();
  other.join();
}

} // namespace
} // namespace cubby_test
