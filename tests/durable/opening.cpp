// SPDX-License-Identifier: Apache-2.0
// How durable files are opened: what is made, what is found, who may share a file, and what a crash in the making leaves.
#include <algorithm>
#include <csignal>

#include "durable/opening.hpp"
#include "process/child.hpp"
#include "support/random.hpp"

#include <sys/stat.h>

namespace cubby_test {
namespace {

class durable_opening : public table_file {};

TEST_F(durable_opening, reports_what_it_has_found) {
  {
    auto made = words::open(path_.c_str());
    ASSERT_TRUE(made) << made.message();
    EXPECT_TRUE(made.recovered().created);
    EXPECT_TRUE(made.recovered().clean);
    EXPECT_EQ(made.error(), open_error::none);
    EXPECT_STREQ(made.message(), "");
    for (std::uint64_t k = 0; k < 10; ++k) made->insert(k, k + 1);
  }
  const auto found = expect_entries();
  EXPECT_FALSE(found.created);
  EXPECT_TRUE(found.clean);
  EXPECT_FALSE(found.power_cut);
  EXPECT_EQ(found.entries, 10U);
  const bytes all = bytes_in(path_);
  EXPECT_EQ(found.bytes, read_at<pool_layout::superblock>(all, offset_of_superblock(all)).end);
  EXPECT_EQ(found.finished + found.duplicates + found.torn + found.restored + found.damaged, 0U);
}

TEST_F(durable_opening, takes_a_string_or_a_path_as_the_name) {
  std::string_view key = "a key";
  std::string_view value = "a value";
  {
    auto made = texts::open(path_);
    ASSERT_TRUE(made) << made.message();
    EXPECT_TRUE(made->insert(key, value));
    EXPECT_FALSE(made->insert_or_assign(key, std::string_view("another")));
  }
  const auto found = texts::open_read_only(std::filesystem::path(path_));
  ASSERT_TRUE(found) << found.message();
  EXPECT_EQ(found->find(key), "another");
}

TEST_F(durable_opening, makes_a_file_only_where_it_may) {
  refuse<words>(open_error::not_found, {.how = opening::only_existing});
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_EQ(words::open_read_only(path_.c_str()).error(), open_error::not_found);
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_EQ(words::open((path_ + "/no/such").c_str()).error(), open_error::not_found);
  make(10, {.how = opening::only_new});
  refuse<words>(open_error::exists, {.how = opening::only_new});
  EXPECT_TRUE(words::open(path_.c_str(), {.how = opening::only_existing}));
  expect_entries();
}

TEST_F(durable_opening, gives_the_file_to_its_owner_alone) {
  const auto before = umask(0);
  make();
  umask(before);
  struct stat about = {};
  ASSERT_EQ(stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0600U);
}

TEST_F(durable_opening, opens_from_either_superblock) {
  make();
  const bytes made = bytes_in(path_);
  const std::uint64_t counts = offset_of_superblock(made);
  // bytes 8 to 11 are the version: a copy that names a newer one is believed
  for (std::uint64_t at = 0; at < 512; at += 3) {
    if (at / 4 == 2) continue;
    bytes all = made;
    all[counts + at] = static_cast<char>(all[counts + at] ^ 0x10);
    write_file(path_, all);
    const auto found = expect_entries();
    EXPECT_FALSE(found.clean) << at; // the older copy is from before the close
    if (HasFailure()) return;
  }
  write_file(path_, made);
  change_bytes([&](bytes& all) {
    for (const std::uint64_t at : pool_layout::copy_at)
      if (at != counts) all[at + 200] ^= 1;
  });
  EXPECT_TRUE(expect_entries().clean);
}

/// In a file system in memory a file is cut before it grows.
TEST(durable_appended, bytes_are_no_entries) {
  const own_folder folder(std::filesystem::current_path().string());
  const std::string path = folder.file("table");
  constexpr std::uint64_t entries = 20'000;
  EXPECT_TRUE(must_open<words>(path)->close());
  {
    std::ofstream behind(path, std::ios::binary | std::ios::app);
    std::vector<std::uint64_t> other(std::size_t{1} << 20);
    for (std::size_t n = 0; n < other.size(); ++n) other[n] = splitmix(n);
    behind.write(reinterpret_cast<const char*>(other.data()), static_cast<std::streamsize>(8 * other.size()));
  }
  {
    const auto t = must_open<words>(path);
    for (std::uint64_t k = 0; k < entries; ++k) ASSERT_TRUE(t->insert(k, k + 1));
    ASSERT_TRUE(t->close());
  }
  auto got = words::open(path);
  ASSERT_TRUE(got) << got.message();
  EXPECT_EQ(got->size(), entries);
  EXPECT_EQ(got.recovered().damaged + got.recovered().duplicates, 0U);
}

/// Of versions 1 and 2, which have two copies of the superblock.
TEST_F(durable_opening, opens_files_of_older_versions) {
  make();
  const bytes made = bytes_in(path_);
  auto newest = read_at<pool_layout::superblock>(made, offset_of_superblock(made));
  for (std::uint32_t version = 1; version <= 2; ++version) {
    bytes all = made;
    for (const std::uint64_t at : pool_layout::copy_at)
      std::fill_n(all.begin() + static_cast<std::ptrdiff_t>(at), 512, 0);
    newest.format = version;
    newest.checksum = pool_layout::checksum_of(newest);
    write_at(all, pool_layout::copy_at[version % 2], newest);
    write_file(path_, all);
    EXPECT_EQ(words::open_read_only(path_)->size(), 10U);
    EXPECT_TRUE(expect_entries().clean);
    EXPECT_TRUE(expect_entries().clean) << "it has this version since it was opened";
  }
}

TEST_F(durable_opening, gives_the_file_to_one_writer) {
  make();
  const auto mine = must_open<words>(path_);
  refuse<words>(open_error::in_use);
  EXPECT_EQ(words::open_read_only(path_.c_str()).error(), open_error::in_use);
  const int status = status_of_child([&](result_of_child& told) {
    told.expect(words::open(path_.c_str()).error() == open_error::in_use, "in use by another process");
    told.expect(words::open_read_only(path_.c_str()).error() == open_error::in_use, "not even to read");
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(mine->size(), 10U);
}

/// Each time the line says where to look for the one that has the file.
TEST_F(durable_opening, says_who_has_the_file) {
  make();
  const auto says = [&](const char* what) {
    EXPECT_EQ(words::open(path_).message(), path_ + ": in use: " + what);
    EXPECT_EQ(words::open(path_).error(), open_error::in_use);
  };
  {
    const auto mine = must_open<words>(path_);
    says("this process has it open already; end that table first");
    EXPECT_EQ(words::open_read_only(path_).message(),
              path_ + ": in use: this process has it open for writing; end that table first");
    const int status = status_of_child([&](result_of_child& told) {
      told.expect(words::open(path_).message() == path_ + ": in use: another process has it open; close that one first",
                  "the parent is another process");
      told.expect(words::open_read_only(path_).message() ==
                      path_ + ": in use: another process has it open for writing; close that one first",
                  "to read, too");
    });
    EXPECT_EQ(status, 0);
    ASSERT_TRUE(mine->close());
    says("a table of this process was closed, but still exists; end it first");
  }
  expect_entries();
  {
    const auto one = words::open_read_only(path_);
    const auto other = words::open_read_only(path_);
    ASSERT_TRUE(one && other);
    says("this process has it open already; end that table first");
  }
  expect_entries();
}

TEST_F(durable_opening, lets_readers_meet) {
  make();
  const bytes before = bytes_in(path_);
  const auto one = words::open_read_only(path_.c_str());
  const auto other = words::open_read_only(path_.c_str());
  ASSERT_TRUE(one) << one.message();
  ASSERT_TRUE(other) << other.message();
  EXPECT_EQ(one->find(3), 4U);
  EXPECT_EQ(other->find(3), 4U);
  refuse<words>(open_error::in_use);
  EXPECT_TRUE(bytes_in(path_) == before);
}

TEST_F(durable_opening, repairs_for_readers_in_memory_alone) {
  make();
  change_bytes(forge_not_closed);
  const bytes before = bytes_in(path_);
  {
    const auto read = words::open_read_only(path_.c_str());
    ASSERT_TRUE(read) << read.message();
    EXPECT_FALSE(read.recovered().clean);
    for (std::uint64_t k = 0; k < 10; ++k) EXPECT_EQ(read->find(k), k + 1);
    EXPECT_TRUE(read->check().ok());
  }
  EXPECT_TRUE(bytes_in(path_) == before);
}

TEST_F(durable_opening, does_not_care_for_the_lock_of_the_dead) {
  if (cubby::detail::cpu::thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in the child of a fork";
  const int status = status_of_child([&](result_of_child& told) {
    auto t = words::open(path_.c_str());
    told.expect(static_cast<bool>(t), t.message());
    for (std::uint64_t k = 0; t && k < 10; ++k) t->insert(k, k + 1);
    raise(SIGKILL);
  });
  EXPECT_EQ(status, -SIGKILL);
  EXPECT_FALSE(expect_entries().clean);
}

TEST_F(durable_opening, says_that_the_machine_has_stopped) {
  make();
  change_bytes(forge_power_cut);
  const auto found = expect_entries();
  EXPECT_TRUE(found.power_cut);
  EXPECT_FALSE(found.clean);
}

TEST_F(durable_opening, makes_again_what_a_crash_has_cut_short) {
  // zeros of any size up to the first extent: the disk space was taken, or a part of it
  for (std::uint64_t size = 0; size <= pool_layout::first_extent; size += size < 4 ? 1 : 511) {
    write_file(path_, bytes(size, 0));
    auto got = words::open(path_.c_str());
    ASSERT_TRUE(got) << size << ": " << got.message();
    EXPECT_TRUE(got.recovered().created) << size;
    EXPECT_TRUE(got->insert(1, 2));
  }
  write_file(path_, bytes(pool_layout::first_extent, 0));
  refuse<words>(open_error::exists, {.how = opening::only_new});
  refuse<words>(open_error::foreign, {.how = opening::only_existing});
  EXPECT_EQ(words::open_read_only(path_.c_str()).error(), open_error::foreign);
}

/// A file as it is before its first extent: with the first superblock alone.
bytes only_superblock(const std::string& path) {
  {
    const auto t = must_open<words>(path);
  }
  bytes all = bytes_in(path);
  all.resize(pool_layout::first_extent);
  std::fill(all.begin(), all.end(), 0);
  pool_layout::superblock first;
  const bytes made = bytes_in(path);
  first = read_at<pool_layout::superblock>(made, offset_of_superblock(made));
  first.sequence = 1;
  first.end = pool_layout::first_extent;
  first.clean = 0;
  first.checksum = pool_layout::checksum_of(first);
  write_at(all, pool_layout::copy_at[1], first);
  return all;
}

TEST_F(durable_opening, makes_again_what_a_crash_has_left_without_extents) {
  const bytes all = only_superblock(path_);
  write_file(path_, all);
  {
    const auto read = words::open_read_only(path_.c_str());
    ASSERT_TRUE(read) << read.message();
    EXPECT_EQ(read->size(), 0U);
  }
  EXPECT_TRUE(bytes_in(path_) == all);
  expect_entries(0);
}

TEST_F(durable_opening, makes_again_what_a_crash_has_left_in_the_first_superblock) {
  const bytes all = only_superblock(path_);
  // the superblock is copied in this order; on the disk, each of its lines may be there up to any word
  for (std::uint64_t count = 8; count < 512; count += 8) {
    bytes torn = all;
    std::fill_n(torn.begin() + static_cast<std::ptrdiff_t>(pool_layout::copy_at[1] + count), 512 - count, 0);
    write_file(path_, torn);
    auto got = words::open(path_.c_str());
    ASSERT_TRUE(got) << count << ": " << got.message();
    EXPECT_EQ(got->size(), 0U);
  }
}

/// A bound of 0 entries is a bound, also after the file was opened again with other options.
TEST_F(durable_opening, keeps_a_bound_of_no_entries) {
  for (const auto growth : {cubby::growth_policy::fixed, cubby::growth_policy::incremental}) {
    auto got = words::open(path_.c_str(), {.growth = growth});
    ASSERT_TRUE(got) << got.message();
    EXPECT_EQ(got->try_insert(1, 1), cubby::outcome::full);
  }
}

} // namespace
} // namespace cubby_test
