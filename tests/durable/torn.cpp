// SPDX-License-Identifier: Apache-2.0
// Records that a power cut has torn: each key then has the last value that a sync has covered, or a later one. The states are those that a
// cut may leave where slots reach the disk without their records, with marks that belong to no change, and in the middle of moves.
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "durable/files.hpp"
#include "durable/kinds.hpp"

namespace cubby_test {
namespace {

/// Finds the records of a file by what they have, and changes them.
template <class Change> std::size_t change_records(bytes& all, std::string_view text, Change change) {
  std::size_t count = 0;
  const std::string_view view(all.data(), all.size());
  for (std::size_t at = view.find(text); at != std::string_view::npos; at = view.find(text, at + 1), ++count)
    change(at);
  return count;
}

TEST(durable_records, that_are_torn_give_way_to_the_older_ones_each_time) {
  using table = kind_of_texts::table;
  const own_folder folder;
  const std::string path = folder.file("table");
  {
    must_open<table>(path)->insert("key", "the first value, which a sync has covered");
  }
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    bytes cut;
    {
      const auto t = must_open<table>(path);
      ASSERT_EQ(t->domain(), cubby::persistence::page);
      t->assign("key", "a second value, which none has covered");
      cut = bytes_in(path);
    }
    forge_power_cut(cut);
    EXPECT_EQ(change_records(cut, "a second value", [&](std::size_t at) { cut[at + 20] ^= 1; }), 1U);
    write_file(path, cut);
    auto got = table::open(path.c_str());
    ASSERT_TRUE(got) << got.message();
    EXPECT_EQ(got.recovered().restored, 1U);
    EXPECT_EQ(got->find("key"), "the first value, which a sync has covered");
    EXPECT_EQ(got->size(), 1U);
  }
}

/// The bytes of a table in which "key" has a second value that no sync has covered and that a power cut has torn. `at`: of that value.
bytes with_torn_value(const std::string& path, std::size_t& at) {
  bytes cut;
  {
    const auto t = must_open<kind_of_texts::table>(path);
    t->assign("key", "a second value, which none has covered");
    cut = bytes_in(path);
  }
  forge_power_cut(cut);
  EXPECT_EQ(change_records(cut, "a second value", [&](std::size_t found) { at = found; }), 1U);
  cut[at + 20] ^= 1;
  return cut;
}
constexpr std::size_t before_value = sizeof(pool_layout::record_header) + 3; // header and key
void expect_first_value(const std::string& path) {
  const auto got = kind_of_texts::table::open(path.c_str());
  ASSERT_TRUE(got) << got.message();
  EXPECT_EQ(got->find("key"), "the first value");
  EXPECT_EQ(got->size(), 1U);
  EXPECT_TRUE(got->check().ok());
}

/// An erase that a power cut has undone, but for the mark in its record.
TEST(durable_records, that_were_marked_and_stay_are_older_ones_again) {
  const own_folder folder;
  const std::string path = folder.file("table");
  {
    must_open<kind_of_texts::table>(path)->insert("key", "the first value");
  }
  bytes marked = bytes_in(path);
  forge_power_cut(marked);
  EXPECT_EQ(change_records(marked, "the first value", [&](std::size_t at) { marked[at - before_value + 22] = 1; }), 1U);
  write_file(path, marked);
  std::size_t at = 0;
  write_file(path, with_torn_value(path, at));
  expect_first_value(path);
}

/// A slot that a move has left, of which the copy did not reach the disk.
TEST(durable_records, that_are_torn_give_way_where_lookups_do_not_go) {
  const own_folder folder;
  const std::string path = folder.file("table");
  {
    cubby::durable_options wanted;
    wanted.capacity = 10'000; // many buckets
    must_open<kind_of_texts::table>(path, wanted)->insert("key", "the first value");
  }
  std::size_t at = 0;
  bytes cut = with_torn_value(path, at);
  const std::uint64_t record = at - before_value;
  constexpr std::uint64_t three_buckets = 3 * 56 * 16;
  std::size_t moved = 0;
  for (std::uint64_t slot = pool_layout::first_extent + pool_layout::page;
       slot + three_buckets + 16 < cut.size() && moved == 0; slot += 16) {
    if (read_at<std::uint64_t>(cut, slot + 8) != record) continue;
    ASSERT_EQ(read_at<std::uint64_t>(cut, slot + three_buckets), 0U);
    std::memcpy(&cut[slot + three_buckets], &cut[slot], 16);
    std::memset(&cut[slot], 0, 16);
    ++moved;
  }
  ASSERT_EQ(moved, 1U);
  write_file(path, cut);
  {
    const auto reader = kind_of_texts::table::open_read_only(path.c_str());
    ASSERT_TRUE(reader) << reader.message();
    EXPECT_EQ(reader->find("key"), "the first value");
  }
  expect_first_value(path);
}

/// Slots that reach the disk without their records, which take the blocks of older ones.
void use_blocks_again(std::uint64_t keys) {
  using table = kind_of_texts::table;
  constexpr std::uint64_t changes = 5000; // of a round
  const own_folder folder;
  const std::string path = folder.file("table");
  const auto value = [](std::uint64_t round) { return "value " + std::to_string(round); };
  const auto text = [](std::uint64_t n) { return std::to_string(10'000 + n); };
  bytes synced;
  bytes cut;
  {
    const auto t = must_open<table>(path);
    for (std::uint64_t round = 0; round < 4; ++round) {
      for (std::uint64_t n = 0; n < changes; ++n) t->insert_or_assign(text(n % keys), value(round));
      if (round == 3) break;
      ASSERT_TRUE(t->sync());
      synced = bytes_in(path);
    }
    cut = bytes_in(path);
  }
  for (std::uint64_t at = pool_layout::first_extent;
       at < read_at<pool_layout::superblock>(cut, offset_of_superblock(cut)).end;) {
    const auto header = read_at<pool_layout::extent_header>(cut, at);
    const std::uint64_t data = at + pool_layout::page;
    at += header.bytes;
    if (header.kind != pool_layout::extent_kind::records) continue;
    for (std::uint64_t i = data; i < at; ++i) cut[i] = i < synced.size() ? synced[i] : '\0';
  }
  forge_power_cut(cut);
  write_file(path, cut);
  const auto got = table::open(path.c_str());
  ASSERT_TRUE(got) << got.message();
  EXPECT_GT(got.recovered().restored, 0U);
  for (std::uint64_t n = 0; n < keys; ++n) {
    const auto is = got->find(text(n));
    ASSERT_TRUE(is == value(2) || is == value(3)) << n << ": " << is.value_or("absent");
  }
}

TEST(durable_records, that_are_torn_by_thousands_are_dropped_soon) {
  using table = kind_of_texts::table;
  constexpr std::uint64_t keys = 20'000;
  const own_folder folder;
  const std::string path = folder.file("table");
  bytes cut;
  {
    cubby::durable_options wanted;
    wanted.capacity = keys; // without growth, so that no sync covers the new ones
    const auto t = must_open<table>(path, wanted);
    for (std::uint64_t n = 0; n < keys; ++n) t->insert(std::to_string(n), "old " + std::to_string(n));
    ASSERT_TRUE(t->sync());
    for (std::uint64_t n = 0; n < keys; ++n) t->assign(std::to_string(n), "new " + std::to_string(n));
    cut = bytes_in(path);
  }
  forge_power_cut(cut);
  EXPECT_EQ(change_records(cut, "new ", [&](std::size_t at) { cut[at] ^= 1; }), keys);
  write_file(path, cut);
  const auto begin = std::chrono::steady_clock::now();
  const auto got = table::open(path.c_str());
  ASSERT_TRUE(got) << got.message();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30)) << "each torn one reads all the others";
  EXPECT_EQ(got.recovered().restored, keys);
  for (std::uint64_t n = 0; n < keys; ++n) ASSERT_EQ(got->find(std::to_string(n)), "old " + std::to_string(n));
}
/// Two values of a key, the file closed, and the second one damaged: in a file of `Engine`, `lines` of which are written back.
template <class Engine> void damage_a_closed_file(bool lines) {
  using table = typename texts_in<Engine>::table;
  const own_folder folder;
  const std::string path = folder.file("table");
  {
    cubby::durable_options wanted;
    wanted.write_lines_back = lines;
    const auto t = must_open<table>(path, wanted);
    t->insert("key", "the first value of the key");
    t->insert("other", "a value that stays");
    t->assign("key", "a second value of the key");
    ASSERT_TRUE(t->close());
  }
  bytes all = bytes_in(path);
  EXPECT_EQ(change_records(all, "a second value", [&](std::size_t at) { all[at + 3] ^= 4; }), 1U);
  write_file(path, all);
  const auto expect_one = [](const auto& got) {
    ASSERT_TRUE(got) << got.message();
    EXPECT_EQ(got->find("key"), std::nullopt) << "an older value";
    EXPECT_EQ(got->find("other"), "a value that stays");
    EXPECT_EQ(got.recovered().restored + got.recovered().torn, 0U);
    EXPECT_EQ(got.recovered().damaged, 1U);
  };
  expect_one(table::open_read_only(path.c_str()));
  expect_one(table::open(path.c_str()));
}
template <class Engine> class durable_records_of : public testing::Test {};
TYPED_TEST_SUITE(durable_records_of, durable_engines);

TYPED_TEST(durable_records_of, a_closed_file_that_are_damaged_are_dropped) {
  for (const bool lines : {false, true}) {
    SCOPED_TRACE(lines ? "line" : "page");
    damage_a_closed_file<TypeParam>(lines);
  }
}

TEST(durable_records, of_blocks_that_are_used_again_do_not_come_back) { use_blocks_again(5000); }
TEST(durable_records, of_blocks_that_one_key_uses_again_do_not_come_back) { use_blocks_again(1); }

} // namespace
} // namespace cubby_test
