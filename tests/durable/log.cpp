// SPDX-License-Identifier: Apache-2.0
// Guarantee H where a sync writes a log. What a power cut leaves when no page has a change that only the log has; groups that are torn; a log
// that is full; and what fails.
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "durable/faults.hpp"
#include "durable/kinds.hpp"
#include "durable/synced_disk.hpp"

namespace cubby_test {
namespace {

template <class Kind> class durable_log : public watched_files {
public:
  using K = typename Kind::key_type;
  using V = typename Kind::mapped_type;
  using table_type = typename Kind::table;
  using model_type = std::map<K, V>;

  /// Inserts, assigns and erases; key 0 as well.
  void change(table_type& t, model_type& model, std::uint64_t from, std::uint64_t count) {
    for (std::uint64_t n = from; n < from + count; ++n) {
      const K key = key_of<K>(n * 7 % 61);
      if (n % 5 == 4) {
        const bool was_there = model.erase(key) == 1;
        EXPECT_EQ(t.erase(key), was_there);
        changes_ += was_there ? 1 : 0;
      } else {
        t.insert_or_assign(key, value_of<V>(n));
        model.insert_or_assign(key, value_of<V>(n));
        ++changes_;
      }
    }
  }
  std::uint64_t changes_ = 0;
  template <class Table> static void compare(const Table& t, const model_type& model) {
    EXPECT_TRUE(t.check().ok());
    EXPECT_EQ(t.size(), model.size());
    for (const auto& [key, value] : model) {
      const auto found = t.find(key);
      ASSERT_TRUE(found.has_value());
      EXPECT_EQ(*found, value);
    }
  }
};
TYPED_TEST_SUITE(durable_log, every_logged_kind);

TYPED_TEST(durable_log, has_what_its_syncs_covered) {
  using table = typename TestFixture::table_type;
  typename TestFixture::model_type model;
  auto t = must_open<table>(this->disk_.path, this->with_log());
  ASSERT_NE(t->stats().log_bytes, 0U);
  for (std::uint64_t round = 0; round < 4; ++round) {
    const int before = this->disk_.syncs;
    this->change(*t, model, round * 50, 50);
    ASSERT_TRUE(t->sync());
    EXPECT_EQ(this->disk_.syncs, before) << "a sync has written pages";
    const std::string left = this->cut();
    const auto reader = table::open_read_only(left.c_str());
    ASSERT_TRUE(reader) << reader.message();
    EXPECT_EQ(reader.recovered().logged, this->changes_);
    this->compare(*reader, model);
  }
  const std::uint64_t logged = this->changes_;
  const auto synced = model;
  this->change(*t, model, 200, 50); // no sync covers these
  const auto found = table::open(this->cut().c_str(), this->with_log());
  ASSERT_TRUE(found) << found.message();
  EXPECT_EQ(found.recovered().entries, found->size());
  EXPECT_EQ(found.recovered().logged, logged);
  this->compare(*found, synced);
}

TYPED_TEST(durable_log, counts_only_after_a_power_cut) {
  using table = typename TestFixture::table_type;
  typename TestFixture::model_type model;
  auto t = must_open<table>(this->disk_.path, this->with_log());
  this->change(*t, model, 0, 100);
  ASSERT_TRUE(t->sync());
  this->change(*t, model, 100, 100);
  write_file(this->folder_.file("killed"), bytes_in(this->disk_.path));
  auto killed = table::open(this->folder_.file("killed").c_str(), this->with_log());
  ASSERT_TRUE(killed) << killed.message();
  EXPECT_EQ(killed.recovered().logged, 0U);
  this->compare(*killed, model);
}

TYPED_TEST(durable_log, goes_on_from_a_recovery) {
  using table = typename TestFixture::table_type;
  typename TestFixture::model_type model;
  for (std::uint64_t life = 0; life < 4; ++life) {
    auto t = must_open<table>(this->disk_.path, this->with_log());
    this->compare(*t, model);
    for (std::uint64_t group = 0; group < 5 - life; ++group) { // fewer each time: older groups stand behind them
      this->change(*t, model, life * 1000 + group * 30, 30);
      ASSERT_TRUE(t->sync());
    }
    auto unsynced = model;
    this->change(*t, unsynced, 5000, 30);
    bytes left = this->disk_.durable;
    forge_power_cut(left);
    t.reset();
    write_file(this->disk_.path, left);
    this->disk_.durable = left;
  }
  this->compare(*must_open<table>(this->disk_.path), model);
}

TYPED_TEST(durable_log, makes_a_reader_grow_as_its_writer_even_after_a_shrink) {
  using table = typename TestFixture::table_type;
  using K = typename TestFixture::K;
  auto wanted = this->with_log();
  wanted.capacity = 50;
  auto t = must_open<table>(this->disk_.path, wanted);
  const std::size_t small = t->capacity();
  ASSERT_TRUE(t->reserve(4000));
  ASSERT_TRUE(t->sync());
  ASSERT_TRUE(t->shrink_to_fit());
  ASSERT_TRUE(t->close()); // so that the pages have the shrink, and only the log what follows
  t.reset();
  t = must_open<table>(this->disk_.path, wanted);
  ASSERT_EQ(t->capacity(), small);
  for (std::uint64_t n = 0; n < 400; ++n) t->insert_or_assign(key_of<K>(n), value_of<typename TestFixture::V>(n));
  ASSERT_TRUE(t->sync());
  const std::string left = this->cut();
  std::size_t capacity = 0;
  {
    const auto reader = table::open_read_only(left.c_str());
    ASSERT_TRUE(reader) << reader.message();
    EXPECT_EQ(reader->size(), 400U);
    EXPECT_TRUE(reader->check().ok());
    capacity = reader->capacity();
    EXPECT_GT(capacity, small);
  }
  EXPECT_EQ(capacity, must_open<table>(left, wanted)->capacity());
}

TYPED_TEST(durable_log, that_is_full_leaves_it_to_the_pages) {
  using table = typename TestFixture::table_type;
  typename TestFixture::model_type model;
  auto t = must_open<table>(this->disk_.path, this->with_log(1));
  ASSERT_EQ(t->stats().log_bytes, std::size_t{64} << 10);
  for (std::uint64_t round = 0; round < 12; ++round) {
    this->change(*t, model, round * 3000, round % 3 == 0 ? 3000 : 20);
    ASSERT_TRUE(t->sync());
    auto found = table::open(this->cut().c_str(), this->with_log());
    ASSERT_TRUE(found) << found.message();
    this->compare(*found, model);
  }
  EXPECT_GT(t->stats().checkpoints, 3U);
}

using table = word_table;
class durable_words_log : public watched_words {};

TEST_F(durable_words_log, ends_at_the_first_torn_group) {
  auto t = must_open<table>(disk_.path, with_log());
  t->insert(1, 1);
  ASSERT_TRUE(t->sync());
  const bytes one_group = disk_.durable;
  for (std::uint64_t n = 2; n < 90; ++n) t->insert(n, n);
  t->assign(1, 2);
  ASSERT_TRUE(t->sync());
  const bytes two_groups = disk_.durable;
  t->assign(1, 3);
  ASSERT_TRUE(t->sync());
  std::vector<std::size_t> sectors; // of the second group
  for (std::size_t at = 0; at < two_groups.size(); at += 512)
    if (!std::equal(two_groups.begin() + static_cast<std::ptrdiff_t>(at),
                    two_groups.begin() + static_cast<std::ptrdiff_t>(at) + 512,
                    one_group.begin() + static_cast<std::ptrdiff_t>(at)))
      sectors.push_back(at);
  ASSERT_GT(sectors.size(), 4U);
  const bytes all = disk_.durable;
  for (const std::size_t at : sectors) {
    disk_.durable = all;
    std::copy_n(one_group.begin() + static_cast<std::ptrdiff_t>(at), 512,
                disk_.durable.begin() + static_cast<std::ptrdiff_t>(at));
    auto found = table::open(cut().c_str());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->find(1), 1U) << "the sector at byte " << at;
    EXPECT_EQ(found->size(), 1U);
  }
}

TEST_F(durable_words_log, loses_nothing_at_any_sync_of_a_checkpoint) {
  auto t = must_open<table>(disk_.path, with_log());
  for (std::uint64_t value = 1; value < 6; ++value) {
    t->insert_or_assign(1, value);
    ASSERT_TRUE(t->sync());
    t->insert_or_assign(2, value); // not covered when the checkpoint begins
    disk_.in_sync = [&] {
      const auto found = must_open<table>(cut());
      EXPECT_EQ(found->find(1), value);
    };
    ASSERT_TRUE(checkpoint(*t));
    disk_.in_sync = nullptr;
    EXPECT_EQ(left_of(1), value);
    EXPECT_EQ(left_of(2), value);
  }
}

/// A change without an entry is durable only when the checkpoint has ended.
TEST_F(durable_words_log, waits_for_the_checkpoint_of_a_full_log) {
  auto t = must_open<table>(disk_.path, with_log(1));
  for (std::uint64_t n = 0; n < 3000; ++n) t->insert_or_assign(n % 10, n);
  t->insert_or_assign(77, 1);
  std::atomic<bool> synced{false};
  std::thread other;
  disk_.in_sync = [&] {
    if (other.joinable()) return;
    other = std::thread([&] {
      t->insert_or_assign(78, 1);
      EXPECT_TRUE(t->sync());
      synced = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(synced.load() && !left_of(77)) << "a sync has returned before its changes were durable";
  };
  ASSERT_TRUE(t->sync());
  disk_.in_sync = nullptr; // the table syncs once more when it closes, after `other` is gone
  other.join();
  EXPECT_EQ(left_of(77), 1U);
  EXPECT_EQ(left_of(78), 1U);
}

class durable_texts_log : public watched_files {};

/// A record that a replay has made is the older one of the next record.
TEST_F(durable_texts_log, covers_what_it_has_replayed) {
  const auto t = must_open<text_table>(disk_.path, with_log());
  t->insert("key", long_value(1));
  ASSERT_TRUE(checkpoint(*t));
  t->assign("key", long_value(2));
  ASSERT_TRUE(t->sync());
  const std::string left = cut(); // the pages have 1, and the log has 2
  const auto found = must_open<text_table>(left, with_log());
  EXPECT_EQ(found->find("key"), long_value(2));
  found->assign("key", long_value(3));
  EXPECT_EQ(must_open<text_table>(torn(bytes_in(left), long_value(3)))->find("key"), long_value(2));
}

TEST_F(durable_words_log, counts_a_failed_sync_as_final) {
  auto t = must_open<table>(disk_.path, with_log());
  t->insert(1, 1);
  cubby::detail::file::installed_sync_range() = [](int, std::uint64_t, std::uint64_t) { return EIO; };
  EXPECT_FALSE(t->sync());
  cubby::detail::file::installed_sync_range() = sync_part;
  EXPECT_FALSE(t->sync());
  t->insert(2, 1);
  EXPECT_FALSE(t->sync());
  EXPECT_FALSE(checkpoint(*t));
  EXPECT_FALSE(t->close());
}

TEST_F(durable_words_log, says_its_statistics_while_the_disk_writes) {
  auto t = must_open<table>(disk_.path, with_log());
  std::atomic<bool> said{false};
  std::thread other;
  disk_.in_log_sync = [&] {
    other = std::thread([&] {
      (void)t->stats();
      said = true;
    });
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!said && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    EXPECT_TRUE(said);
  };
  t->insert(1, 1);
  ASSERT_TRUE(t->sync());
  other.join();
  EXPECT_EQ(t->stats().log_syncs, 1U);
}

TEST_F(durable_words_log, is_not_there_on_a_full_disk) {
  auto t = must_open<table>(disk_.path);
  t.reset();
  const full_disk none(0);
  t = must_open<table>(disk_.path, with_log());
  EXPECT_EQ(t->stats().log_bytes, 0U);
  t->insert(1, 1);
  ASSERT_TRUE(t->sync());
  EXPECT_EQ(left_of(1), 1U);
}

TEST_F(durable_words_log, comes_with_group_commits) {
  TearDown(); // no copies of so long a file
  auto t = must_open<table>(disk_.path, {.sync_every = std::chrono::milliseconds(1)});
  EXPECT_EQ(t->stats().log_bytes, std::size_t{64} << 20);
  t->insert(1, 1);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (t->stats().log_syncs == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_GT(t->stats().log_syncs, 0U);
}

} // namespace
} // namespace cubby_test
