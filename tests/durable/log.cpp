// SPDX-License-Identifier: Apache-2.0
// Guarantee H where a sync writes a log. The disk of these tests has what syncs have covered and nothing else, which is the hardest power cut
// for a log: no page has a change that only the log has. Threads stop at each step of a change.
#include <array>
#include <atomic>
#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "durable/faults.hpp"
#include "durable/files.hpp"
#include "durable/kinds.hpp"

#include <sys/stat.h>

namespace cubby_test {
namespace {

/// What syncs have made durable of one file.
struct disk {
  std::string path;
  bytes durable;
  std::atomic<int> syncs{0};
  std::atomic<int> log_syncs{0};
  std::function<void()> in_sync; // called before a sync of the whole file
  [[nodiscard]] bool is_here(int file) const {
    struct stat synced = {};
    struct stat watched = {};
    return fstat(file, &synced) == 0 && stat(path.c_str(), &watched) == 0 && synced.st_ino == watched.st_ino;
  }
};
disk*& watched_disk() {
  static disk* one = nullptr;
  return one;
}
int sync_whole(int file) {
  disk& d = *watched_disk();
  if (!d.is_here(file)) return 0;
  ++d.syncs;
  if (d.in_sync) d.in_sync();
  d.durable = bytes_in(d.path);
  return 0;
}
int sync_part(int file, std::uint64_t from, std::uint64_t count) {
  disk& d = *watched_disk();
  if (!d.is_here(file)) return 0;
  d.log_syncs += from >= pool_layout::first_extent ? 1 : 0;
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
    bytes left = disk_.durable;
    forge_power_cut(left);
    write_file(folder_.file(name), left);
    return folder_.file(name);
  }
  own_folder folder_;
  disk disk_;
};

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
using kinds = testing::Types<kind_of_words, kind_of_tuples, kind_of_texts, kind_of_counted_texts, kind_of_structs>;
TYPED_TEST_SUITE(durable_log, kinds);

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

using table = cubby::durable_map<std::uint64_t, std::uint64_t>;
class durable_words_log : public watched_files {
protected:
  static bool checkpoint(table& t) {
    auto& engine = cubby::detail::engine_access::of(t);
    return engine.checkpoint(*engine.local_thread_record());
  }
  std::optional<std::uint64_t> left_of(std::uint64_t key) { return must_open<table>(cut())->find(key); }
};

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
  other.join();
  EXPECT_EQ(left_of(77), 1U);
  EXPECT_EQ(left_of(78), 1U);
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
  auto t = must_open<table>(disk_.path, {.sync_every = std::chrono::milliseconds(1)});
  EXPECT_EQ(t->stats().log_bytes, std::size_t{256} << 20);
  t->insert(1, 1);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (t->stats().log_syncs == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_GT(t->stats().log_syncs, 0U);
}

// A thread that changes an entry stops before one of its steps, while others look and sync.

struct stop {
  std::thread::id who;
  int before = 0; // steps until it stops
  std::atomic<bool> stopped{false};
  std::atomic<bool> go{false};
};
stop*& the_stop() {
  static stop* one = nullptr;
  return one;
}
void stop_here(cubby::detail::sync::step, const void*) {
  stop* const s = the_stop();
  if (s == nullptr || std::this_thread::get_id() != s->who || s->before-- != 0) return;
  s->stopped = true;
  while (!s->go) std::this_thread::yield();
}

class stopped_change : public durable_words_log {
protected:
  static constexpr std::uint64_t key = 42;
  static constexpr auto briefly = std::chrono::milliseconds(20);

  /// Runs `change` once for each of its steps: it stops there, `beside` runs in a thread of its own, and then it goes on.
  template <class Before, class Change, class Beside>
  void at_each_step(Before before, Change change, Beside beside) {
    bool more = true;
    for (int step = 0; more && !HasFailure(); ++step) {
      before();
      stop s;
      s.before = step;
      std::thread writer([&] {
        change(); // the thread has its record before the steps count
        s.who = std::this_thread::get_id();
        the_stop() = &s;
        cubby::detail::sync::install_hook(stop_here);
        changed_ = false;
        change();
        changed_ = true;
        s.stopped = true;
      });
      while (!s.stopped) std::this_thread::yield();
      more = !changed_;
      std::thread other([&] { beside(); });
      std::this_thread::sleep_for(briefly); // it may wait for the writer
      s.go = true;
      writer.join();
      other.join();
      cubby::detail::sync::install_hook(nullptr);
      the_stop() = nullptr;
    }
  }
  std::atomic<bool> changed_{false};
};

TEST_F(stopped_change, is_covered_by_a_sync_after_it) {
  auto t = must_open<table>(disk_.path, with_log());
  std::uint64_t value = 0;
  for (const bool pages : {false, true}) {
    at_each_step([] {}, [&] { t->insert_or_assign(key, ++value); },
                 [&] { EXPECT_TRUE(pages ? checkpoint(*t) : t->sync()); });
    EXPECT_TRUE(t->sync());
  }
}
TEST_F(stopped_change, is_in_the_log_or_in_the_pages) {
  auto t = must_open<table>(disk_.path, with_log());
  std::uint64_t value = 0;
  for (const bool pages : {false, true}) {
    at_each_step(
        [&] {
          if (value == 0) return;
          EXPECT_TRUE(t->sync());
          EXPECT_EQ(left_of(key), value);
        },
        [&] { t->insert_or_assign(key, ++value); }, [&] { EXPECT_TRUE(pages ? checkpoint(*t) : t->sync()); });
  }
}
TEST_F(stopped_change, that_is_seen_is_covered) {
  auto t = must_open<table>(disk_.path, with_log());
  std::uint64_t value = 0;
  bool erases = false;
  const auto look = [&] {
    const auto seen = t->find(key);
    EXPECT_TRUE(t->sync());
    if (changed_) return;
    const auto left = left_of(key);
    if (seen && !erases) EXPECT_GE(left.value_or(0), *seen);
    if (!seen && erases) EXPECT_FALSE(left.has_value());
  };
  at_each_step([] {}, [&] { t->insert_or_assign(key, ++value); }, look);
  erases = true;
  at_each_step(
      [&] {
        t->insert_or_assign(key, 1);
        EXPECT_TRUE(t->sync());
      },
      [&] { t->erase(key); }, look);
}
TEST_F(stopped_change, stands_in_the_log_in_its_order) {
  auto t = must_open<table>(disk_.path, with_log());
  std::uint64_t n = 0;
  at_each_step(
      [&] {
        EXPECT_TRUE(t->sync());
        if (n != 0) EXPECT_EQ(left_of(key), t->find(key));
      },
      [&] { t->insert_or_assign(key, ++n); }, [&] { t->insert_or_assign(key, 1000); });
}

} // namespace
} // namespace cubby_test
