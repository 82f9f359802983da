// SPDX-License-Identifier: Apache-2.0
// What an open makes of the slots of a file that was not closed. It finds the block of each record, whatever the sizes of blocks and extents
// are. And it drops a second copy of an entry in the same bucket, of the front yard or of the back yard.
#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <cubby/seph.hpp>

#include "durable/files.hpp"
#include "durable/kinds.hpp"
#include "durable/one_bucket.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

/// Values of up to 300 KB: extents of one block and of many, some of which are longer than a window of 64 KiB, and some that are not.
std::string value_of_any_size(std::uint64_t number) {
  const std::uint64_t dice = splitmix(number);
  const std::uint64_t most = dice % 16 == 0 ? 300'000 : dice % 4 == 0 ? 9000 : 400;
  return std::string(splitmix(dice) % most, static_cast<char>('a' + number % 26));
}

/// A table of many segments opens again, after a close and after a kill. Its first segment is many levels above those that it needs.
TEST(durable_reopened, makes_the_segments_of_a_table_of_many) {
  using table = cubby::durable_map<std::uint64_t, std::uint64_t, cubby::hash<std::uint64_t>, cubby::seph>;
  constexpr std::uint64_t keys = 60'000;
  const own_folder folder;
  const std::string path = folder.file("table");
  {
    auto made = table::open(path, {.survives = cubby::survive::process}, {.segment_bits = 1});
    ASSERT_TRUE(made) << made.message();
    for (std::uint64_t n = 0; n < keys; ++n) ASSERT_TRUE(made->insert(n, ~n));
    ASSERT_TRUE(made->close());
  }
  bytes all = bytes_in(path);
  for (const bool closed : {true, false}) {
    if (!closed) forge_not_closed(all);
    write_file(path, all);
    const auto got = table::open(path, {}, {.segment_bits = 1});
    ASSERT_TRUE(got) << got.message();
    EXPECT_EQ(got->size(), keys);
    EXPECT_EQ(got.recovered().clean, closed);
    for (std::uint64_t n = 0; n < keys; n += 7) ASSERT_EQ(got->find(n), ~n);
  }
}

TEST(durable_reopened, has_each_record_in_its_block) {
  using table = kind_of_texts::table;
  constexpr std::uint64_t keys = 1500;
  const own_folder folder;
  const std::string path = folder.file("table");
  cubby::durable_options wanted;
  wanted.survives = cubby::survive::process; // blocks are given back without a sync
  std::size_t in_use = 0;
  {
    const auto t = must_open<table>(path, wanted);
    for (std::uint64_t n = 0; n < keys; ++n) ASSERT_TRUE(t->insert(std::to_string(n), value_of_any_size(n)));
    in_use = t->stats().block_bytes;
  }
  bytes all = bytes_in(path);
  forge_not_closed(all);
  write_file(path, all);
  auto got = table::open(path.c_str());
  ASSERT_TRUE(got) << got.message();
  EXPECT_EQ(got.recovered().entries, keys);
  EXPECT_EQ(got.recovered().damaged + got.recovered().torn, 0U);
  EXPECT_EQ(got->stats().block_bytes, in_use);
  for (int round = 0; round < 3; ++round) { // blocks that were found are given back, and taken again
    for (std::uint64_t n = 0; n < keys; ++n) ASSERT_EQ(got->find(std::to_string(n)), value_of_any_size(n)) << n;
    for (std::uint64_t n = 0; n < keys; n += 2) ASSERT_TRUE(got->erase(std::to_string(n)));
    for (std::uint64_t n = 0; n < keys; n += 2) ASSERT_TRUE(got->insert(std::to_string(n), value_of_any_size(n)));
  }
  for (std::uint64_t n = 0; n < keys; ++n) ASSERT_EQ(got->find(std::to_string(n)), value_of_any_size(n)) << n;
  ASSERT_TRUE(got.take()->close()); // and it ends
  EXPECT_EQ(must_open<table>(path)->stats().block_bytes, in_use);
}

/// The slots of buckets in the first segment.
struct bucket_slots {
  std::uint64_t first;
  std::uint64_t end;
  std::uint64_t of_each;
};
bucket_slots front_slots(const bytes& all) {
  return {0, 56 * read_at<pool_layout::superblock>(all, offset_of_superblock(all)).what.fronts, 56};
}
bucket_slots back_slots(const bytes& all) {
  const std::uint64_t first = front_slots(all).end;
  return {first, first + 8 * read_at<pool_layout::superblock>(all, offset_of_superblock(all)).what.backs, 8};
}
/// Copies the first of these slots in each bucket that has one into a free slot of the bucket. Their number.
std::uint64_t copy_one_in_each_bucket(bytes& all, const bucket_slots& of) {
  const std::uint64_t slots = pool_layout::first_extent + pool_layout::page;
  const auto key_at = [&](std::uint64_t slot) { return read_at<std::uint64_t>(all, slots + 16 * slot); };
  std::uint64_t copied = 0;
  for (std::uint64_t bucket = of.first; bucket < of.end; bucket += of.of_each) {
    const std::uint64_t last = bucket + of.of_each - 1;
    std::uint64_t from = bucket;
    while (from <= last && key_at(from) == 0) ++from;
    std::uint64_t to = last;
    while (to > from && key_at(to) != 0) --to;
    if (to <= from) continue;
    std::memcpy(&all[slots + 16 * to], &all[slots + 16 * from], 16);
    ++copied;
  }
  return copied;
}

/// A slot that stands twice in a bucket, as a power cut can leave it. Each of these buckets with an entry and a free slot has one. There are
/// `fewest` of them at least.
template <class Table>
void expect_each_entry_once(std::uint64_t capacity, std::uint64_t keys, std::uint64_t fewest,
                            bucket_slots (*of)(const bytes&)) {
  const own_folder folder;
  const std::string path = folder.file("table");
  {
    const auto t = must_open<Table>(path, {.capacity = capacity});
    for (std::uint64_t n = 1; n <= keys; ++n) ASSERT_TRUE(t->insert(n * 1000, n));
  }
  bytes all = bytes_in(path);
  const std::uint64_t copied = copy_one_in_each_bucket(all, of(all));
  ASSERT_GE(copied, fewest);
  forge_not_closed(all);
  write_file(path, all);
  const auto got = Table::open(path.c_str());
  ASSERT_TRUE(got) << got.message();
  EXPECT_EQ(got.recovered().duplicates, copied);
  EXPECT_EQ(got->size(), keys);
  for (std::uint64_t n = 1; n <= keys; ++n) {
    EXPECT_EQ(got->find(n * 1000), n);
    EXPECT_TRUE(got->erase(n * 1000));
    EXPECT_FALSE(got->contains(n * 1000)) << "its copy is there";
  }
  EXPECT_EQ(got->size(), 0U);
}
TEST(durable_reopened, has_an_entry_once_that_stands_twice_in_a_bucket) {
  expect_each_entry_once<kind_of_words::table>(4000, 30, 6, front_slots);
}
TEST(durable_reopened, has_an_entry_once_that_stands_twice_in_a_back_bucket) {
  expect_each_entry_once<bucket_table>(350, 66, 3, back_slots); // ten more than the front bucket has slots
}

/// Two slots that lead to one record, in a file that was closed, where no copies are searched for.
TEST(durable_reopened, gives_a_record_to_one_of_two_slots) {
  using table = kind_of_texts::table;
  constexpr std::uint64_t keys = 30;
  const own_folder folder;
  const std::string path = folder.file("table");
  {
    const auto t = must_open<table>(path, {.capacity = 4000});
    for (std::uint64_t n = 0; n < keys; ++n) ASSERT_TRUE(t->insert(std::to_string(n), value_of_any_size(n)));
    ASSERT_TRUE(t->close());
  }
  bytes all = bytes_in(path);
  const std::uint64_t copied = copy_one_in_each_bucket(all, front_slots(all));
  ASSERT_GT(copied, 5U);
  write_file(path, all);
  const auto got = table::open(path.c_str());
  ASSERT_TRUE(got) << got.message();
  EXPECT_EQ(got.recovered().damaged, copied);
  EXPECT_EQ(got->size(), keys);
  for (std::uint64_t n = 0; n < keys; ++n) {
    EXPECT_TRUE(got->erase(std::to_string(n)));
    EXPECT_FALSE(got->contains(std::to_string(n)));
  }
}

/// A bit flips in the value of one record: that entry is dropped, whether its record was read ahead or when its slot was met.
TEST(durable_reopened, drops_a_record_that_does_not_agree_with_its_checksum) {
  using table = kind_of_texts::table;
  for (const std::size_t size : {std::size_t{100}, std::size_t{5000}, std::size_t{100'000}}) {
    const own_folder folder;
    const std::string path = folder.file("table");
    const std::string second(size, 'b');
    {
      const auto t = must_open<table>(path, {.survives = cubby::survive::process});
      ASSERT_TRUE(t->insert("first", std::string(size, 'a')));
      ASSERT_TRUE(t->insert("second", second));
    }
    bytes all = bytes_in(path);
    const auto at = std::search(all.begin(), all.end(), second.begin(), second.end());
    ASSERT_NE(at, all.end());
    at[static_cast<std::ptrdiff_t>(size / 2)] ^= 1;
    forge_not_closed(all);
    write_file(path, all);
    const auto got = table::open(path.c_str());
    ASSERT_TRUE(got) << got.message();
    EXPECT_EQ(got.recovered().damaged, 1U) << size;
    EXPECT_EQ(got->size(), 1U);
    EXPECT_TRUE(got->contains("first"));
    EXPECT_FALSE(got->contains("second"));
  }
}

} // namespace
} // namespace cubby_test
