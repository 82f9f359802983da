// SPDX-License-Identifier: Apache-2.0
// Files that are cut, overwritten and of which bits are flipped, closed ones and those that a crash has left. Each is opened: that is
// refused with a clear error, or gives a table that works. What has a checksum has no wrong value then. CUBBY_TEST_DAMAGES says how many
// files each test damages; the long command asks for thousands.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "durable/files.hpp"
#include "durable/kinds.hpp"
#include "durable/one_bucket.hpp"

#include <unistd.h>

namespace cubby_test {
namespace {

using cubby::open_error;

std::uint64_t wanted_damages() {
  const char* const given = std::getenv("CUBBY_TEST_DAMAGES");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 40;
}

/// Where the data of the file are: damage is done there, and not behind its end.
std::uint64_t end_of(const bytes& all) { return read_at<pool_layout::superblock>(all, offset_of_superblock(all)).end; }

template <class Kind> class durable_damage : public testing::Test {
public:
  using K = typename Kind::key_type;
  using V = typename Kind::mapped_type;
  using table_type = typename Kind::table;
  static constexpr bool has_checksums = !std::is_same_v<V, std::uint64_t>;
  static constexpr std::uint64_t keys = 700;

  durable_damage() : path_(folder_.file("table")) {
    cubby::durable_options wanted;
    wanted.survives = cubby::survive::process; // its syncs cost nothing to those that are damaged
    make(wanted);
    made_ = bytes_in(path_);
  }
  /// A table that has grown, with values that were replaced, and with entries in its overflow.
  void make(const cubby::durable_options& wanted) {
    const auto t = must_open<table_type>(path_, wanted);
    for (std::uint64_t n = 0; n < keys; ++n) t->insert(key_of<K>(n), value_of<V>(n + 1));
    for (std::uint64_t n = 0; n < keys; n += 3) t->assign(key_of<K>(n), value_of<V>(n));
    for (std::uint64_t n = 0; n < keys; n += 7) t->erase(key_of<K>(n));
  }
  /// What an entry can have, with or without the last change: no other value.
  static bool may_be(const K& k, const V& v) {
    const std::uint64_t n = number_of(v);
    for (const std::uint64_t key : {n, n - 1})
      if (key < keys && key_of<K>(key) == k && v == value_of<V>(n)) return true;
    return false;
  }

  /// The number of bytes that one blow changes: a bit, or a run of bytes.
  void damage(bytes& all, std::uint64_t from, std::uint64_t to) {
    const std::uint64_t at = from + random_.below(to - from);
    const std::uint64_t dice = random_.below(6);
    if (dice < 3) {
      all[at] = static_cast<char>(all[at] ^ (1 << random_.below(8)));
      return;
    }
    const std::uint64_t whole = random_.one_in(2) ? 8 : 1 + random_.below(random_.one_in(3) ? 5000 : 80);
    const std::uint64_t first = whole == 8 ? at / 8 * 8 : at;
    const std::uint64_t other = from + random_.below(to - from);
    for (std::uint64_t i = 0; i < whole && first + i < to && other + i < to; ++i) {
      if (dice == 3) all[first + i] = 0;
      else if (dice == 4 || !has_checksums)
        all[first + i] = static_cast<char>(random_.next()); // a copy of a word's slot is whole
      else all[first + i] = all[other + i];                 // of another place
    }
  }
  /// A place where something stands, two times in three a header or what is in front of it.
  void damage_somewhere(bytes& all) {
    const std::uint64_t end = end_of(made_);
    const std::uint64_t dice = random_.below(6);
    if (dice == 0) return damage(all, 0, pool_layout::first_extent);
    if (dice == 1) { // the header of an extent
      std::uint64_t at = pool_layout::first_extent;
      const auto next = [&] { return at + read_at<pool_layout::extent_header>(made_, at).bytes; };
      while (!random_.one_in(3) && next() < end) at = next();
      return damage(all, at, at + sizeof(pool_layout::extent_header));
    }
    damage(all, pool_layout::first_extent, end);
  }

  /// Opens what is there. Tests the table, if there is one.
  void open() {
    alarm(60); // one that hangs
    const auto got = table_type::open(path_.c_str());
    if (!got) {
      const open_error code = got.error();
      EXPECT_TRUE(code == open_error::damaged || code == open_error::truncated || code == open_error::foreign ||
                  code == open_error::newer || code == open_error::power_cut)
          << got.message();
      EXPECT_STRNE(got.message(), "");
      ++refused_;
    } else {
      ++opened_;
      look(*got);
      use(*got);
    }
    alarm(0);
  }
  void look(table_type& t) {
    std::size_t count = 0;
    const cubby::checked found = t.check();
    EXPECT_EQ(found.lost, 0U);
    EXPECT_EQ(found.damaged, 0U);
    std::set<K> seen;
    t.visit_all([&](const K& k, const V& v) {
      ++count;
      EXPECT_TRUE(seen.insert(k).second) << "a key twice";
      if (has_checksums) {
        EXPECT_TRUE(may_be(k, v)) << "a wrong value";
      }
      EXPECT_TRUE(t.find(k) == v);
    });
    EXPECT_EQ(t.size(), count);
    entries_ += count;
  }
  /// A table that was opened takes all that others take, and has it when it is opened again.
  void use(table_type& t) {
    for (std::uint64_t n = 0; n < keys; ++n) t.insert_or_assign(key_of<K>(n), value_of<V>(n));
    for (std::uint64_t n = 0; n < keys; n += 2) EXPECT_TRUE(t.erase(key_of<K>(n)));
    if (has_checksums) {
      EXPECT_EQ(t.size(), keys / 2);
    }
    EXPECT_TRUE(t.shrink_to_fit());
    for (std::uint64_t n = 0; n < keys; ++n)
      EXPECT_TRUE(t.find(key_of<K>(n)) == (n % 2 == 0 ? std::nullopt : std::optional<V>(value_of<V>(n))));
    const std::size_t size = t.size();
    EXPECT_TRUE(t.close());
    // as soon as the first one ends
    after_ = size;
  }
  void open_again() {
    const auto again = table_type::open(path_.c_str());
    ASSERT_TRUE(again) << again.message();
    EXPECT_EQ(again->size(), after_);
    EXPECT_EQ(again.recovered().finished + again.recovered().torn + again.recovered().damaged, 0U);
    for (std::uint64_t n = 0; n < keys; ++n)
      EXPECT_TRUE(again->find(key_of<K>(n)) == (n % 2 == 0 ? std::nullopt : std::optional<V>(value_of<V>(n))));
  }
  /// Damages so many files, each `prepare`d before, and opens them.
  template <class Prepare> void play(Prepare prepare) {
    for (std::uint64_t n = 0; n < wanted_damages() && !this->HasFailure(); ++n) {
      bytes all = made_;
      prepare(all);
      for (std::uint64_t blows = 1 + random_.below(random_.one_in(4) ? 200 : 3); blows != 0; --blows)
        damage_somewhere(all);
      if (random_.one_in(20)) all.resize(random_.below(all.size()));
      SCOPED_TRACE(testing::Message() << "file " << n);
      write_file(path_, all);
      const std::uint64_t before = opened_;
      open();
      if (opened_ != before) open_again();
      if (this->HasFailure()) keep(all);
    }
    EXPECT_GT(opened_, 0U);
    EXPECT_GT(entries_, 0U);
    std::printf("%llu opened with %llu entries, %llu refused\n", static_cast<unsigned long long>(opened_),
                static_cast<unsigned long long>(entries_), static_cast<unsigned long long>(refused_));
  }
  /// A file that has shown an error stays where CUBBY_TEST_KEEP says.
  static void keep(const bytes& all) {
    if (const char* const where = std::getenv("CUBBY_TEST_KEEP"); where != nullptr) write_file(where, all);
  }

protected:
  own_folder folder_;
  std::string path_;
  bytes made_;
  random_source random_{23};
  std::uint64_t opened_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t entries_ = 0;
  std::size_t after_ = 0;
};

TYPED_TEST_SUITE(durable_damage, main_kinds);

TYPED_TEST(durable_damage, of_a_closed_file) {
  this->play([](bytes&) {});
}
TYPED_TEST(durable_damage, of_a_file_that_was_not_closed) { this->play(forge_not_closed); }
TYPED_TEST(durable_damage, of_a_file_in_a_move) {
  this->play([](bytes& all) {
    forge_superblock(all, [](pool_layout::superblock& s) {
      s.clean = 0;
      s.moving = pool_layout::move_state::grows;
    });
  });
}
TYPED_TEST(durable_damage, of_a_file_after_a_power_cut) {
  this->play([](bytes& all) {
    forge_power_cut(all);
    forge_superblock(all, [](pool_layout::superblock& s) { s.what.promise = 1; });
  });
}
TYPED_TEST(durable_damage, of_a_file_that_is_read) {
  for (std::uint64_t n = 0; n < wanted_damages() && !this->HasFailure(); ++n) {
    bytes all = this->made_;
    if (n % 2 == 0) forge_not_closed(all);
    for (std::uint64_t blows = 1 + this->random_.below(50); blows != 0; --blows)
      this->damage(all, pool_layout::first_extent + pool_layout::page, end_of(all));
    write_file(this->path_, all);
    if (const auto got = TestFixture::table_type::open_read_only(this->path_.c_str())) {
      EXPECT_TRUE(got->check().ok());
      if (this->has_checksums) {
        got->visit_all([](const auto& k, const auto& v) { EXPECT_TRUE(TestFixture::may_be(k, v)); });
      }
    }
    EXPECT_TRUE(bytes_in(this->path_) == all);
  }
}

/// A file after a power cut, in which the header of the second extent is damaged.
bytes without_second_extent(const std::string& path) {
  {
    const auto t = must_open<kind_of_words::table>(path);
    for (std::uint64_t n = 0; n < 2000; ++n) t->insert(n, n);
  }
  bytes cut = bytes_in(path);
  const auto first = read_at<pool_layout::extent_header>(cut, pool_layout::first_extent);
  forge_power_cut(cut);
  cut[pool_layout::first_extent + first.bytes] ^= 1;
  return cut;
}

TEST(durable_extents, that_are_made_again_are_empty) {
  using table = kind_of_words::table;
  const own_folder folder;
  const std::string path = folder.file("table");
  bytes cut = without_second_extent(path);
  forge_superblock(cut, [](pool_layout::superblock& s) { s.covered = pool_layout::first_extent; });
  write_file(path, cut);
  for (int round = 0; round < 2; ++round) {
    const auto t = must_open<table>(path);
    for (std::uint64_t n = 0; n < 2000; ++n) t->insert(n, n);
    for (std::uint64_t n = 0; n < 2000; ++n) EXPECT_TRUE(t->erase(n));
    EXPECT_EQ(t->size(), 0U);
  }
  EXPECT_EQ(must_open<table>(path)->size(), 0U);
}

TEST(durable_extents, that_a_sync_has_covered_are_missed) {
  const own_folder folder;
  const std::string path = folder.file("table");
  const bytes cut = without_second_extent(path);
  write_file(path, cut);
  const auto got = kind_of_words::table::open(path);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error(), cubby::open_error::damaged) << got.message();
  EXPECT_TRUE(bytes_in(path) == cut);
}

TEST(durable_zero_entries, that_have_another_key_are_dropped) {
  using table = kind_of_words::table;
  const own_folder folder;
  const std::string path = folder.file("table");
  {
    const auto t = must_open<table>(path);
    t->insert(0, 7);
    t->insert(5, 8);
  }
  bytes all = bytes_in(path);
  all[pool_layout::zero_entry_at] = 5;
  write_file(path, all);
  auto got = table::open(path.c_str());
  ASSERT_TRUE(got) << got.message();
  EXPECT_EQ(got.recovered().damaged, 1U);
  EXPECT_EQ(got->size(), 1U);
  EXPECT_EQ(got->find(5), 8U);
  EXPECT_TRUE(got->insert(0, 9));
  EXPECT_EQ(got->find(0), 9U);
}

/// Changes the key of an entry in a file, wherever its slot is.
void change_key(bytes& all, std::uint64_t key, std::uint64_t value, std::uint64_t to) {
  for (std::uint64_t at = pool_layout::first_extent; at + 16 <= all.size(); at += 8)
    if (read_at<std::uint64_t>(all, at) == key && read_at<std::uint64_t>(all, at + 8) == value) {
      std::memcpy(all.data() + at, &to, sizeof to);
      return;
    }
  FAIL() << "no slot has key " << key;
}

/// Opens a table in which two entries had this key, and erases it.
void expect_one_entry(const std::string& path, std::uint64_t key) {
  auto t = bucket_table::open(path);
  ASSERT_TRUE(t) << t.message();
  EXPECT_FALSE(t.recovered().clean);
  EXPECT_EQ(t.recovered().duplicates, 1U);
  EXPECT_EQ(t->size(), entries_of_bucket - 1);
  std::uint64_t shown = 0;
  t->visit_all([&](std::uint64_t k, std::uint64_t) { shown += k == key ? 1 : 0; });
  EXPECT_EQ(shown, 1U);
  EXPECT_TRUE(t->erase(key));
  EXPECT_FALSE(t->contains(key));
  EXPECT_TRUE(t->close());
}
TEST(durable_words, whose_key_a_damage_has_made_equal_to_another_are_one_entry) {
  constexpr std::uint64_t key = 1'000'000;
  constexpr std::uint64_t value = 2'000'000;
  const own_folder folder;
  const std::string path = folder.file("table");
  {
    const auto t = must_open<bucket_table>(path);
    for (std::uint64_t n = 0; n < entries_of_bucket; ++n) ASSERT_TRUE(t->insert(key + n, value + n));
  }
  const bytes made = bytes_in(path);
  for (std::uint64_t n = 1; n < entries_of_bucket; ++n) { // in the front yard, in the back yard, in a chain
    SCOPED_TRACE(testing::Message() << "entry " << n);
    bytes all = made;
    change_key(all, key + n, value + n, key);
    write_file(path, all);
    expect_one_entry(path, key);
    EXPECT_FALSE(must_open<bucket_table>(path)->contains(key));
  }
}

} // namespace
} // namespace cubby_test
