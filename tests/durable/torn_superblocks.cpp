// SPDX-License-Identifier: Apache-2.0
// Guarantee H. A disk may take a copy of the superblock while it is written. After a power cut all but the one that the last sync has covered may be
// torn, and what that sync has covered is there (docs/format.md, Superblock).
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "durable/files.hpp"
#include "engines.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t sector = sizeof(pool_layout::superblock);

template <class Engine> class durable_superblock : public ::testing::Test {
public:
  using table = cubby::durable_map<std::string, std::string, cubby::hash<std::string>, Engine>;
  static constexpr int entries = 300;
  /// So that nothing grows: the thread of a table that has grown syncs by itself, behind the last sync of the test.
  static constexpr cubby::durable_options with_space{.capacity = 1000};

  durable_superblock() : path_(folder_.file("table")), cut_(folder_.file("cut")) {}
  /// Changes of the superblock: each record of another size takes an extent.
  static void take_extents(table& t, int count) {
    for (int n = 0; n < count; ++n)
      ASSERT_TRUE(t.insert("large " + std::to_string(n), std::string(std::size_t{200} << n, 'l')));
  }
  static void put_entries(table& t) {
    for (int n = 0; n < entries; ++n) ASSERT_TRUE(t.insert("key " + std::to_string(n), "value"));
  }
  /// The disk has all sectors as at the sync, but for the copies that were written since: of each the first `words` are newer.
  static bytes torn(const bytes& synced, const bytes& now, std::uint64_t words) {
    bytes out = synced;
    for (const std::uint64_t at : pool_layout::copy_at) std::memcpy(&out[at], &now[at], words * sizeof(std::uint64_t));
    for (const std::uint64_t at : pool_layout::copy_at) {
      auto one = read_at<pool_layout::superblock>(out, at);
      if (one.checksum != pool_layout::checksum_of(one)) continue;
      ++one.boot[0]; // the machine has started again
      one.checksum = pool_layout::checksum_of(one);
      write_at(out, at, one);
    }
    return out;
  }

protected:
  own_folder folder_;
  const std::string path_;
  const std::string cut_;
};
using engines_of_files = ::testing::Types<cubby::iceberg, cubby::seph>;
TYPED_TEST_SUITE(durable_superblock, engines_of_files);

TYPED_TEST(durable_superblock, of_the_last_sync_is_never_torn) {
  using fixture = TestFixture;
  for (int changes = 1; changes <= 6; ++changes) {
    auto t = must_open<typename fixture::table>(this->path_, fixture::with_space);
    ASSERT_NO_FATAL_FAILURE(fixture::put_entries(*t));
    ASSERT_TRUE(t->sync());
    const bytes synced = bytes_in(this->path_);
    ASSERT_NO_FATAL_FAILURE(fixture::take_extents(*t, changes));
    const bytes now = bytes_in(this->path_);
    for (std::uint64_t words = 0; words <= sector / 8; words += 3) {
      write_file(this->cut_, fixture::torn(synced, now, words));
      const auto got = fixture::table::open(this->cut_);
      ASSERT_TRUE(got) << changes << " changes, " << words << " words: " << got.message();
      EXPECT_TRUE(got.recovered().power_cut);
      for (int n = 0; n < fixture::entries; ++n)
        ASSERT_TRUE(got->contains("key " + std::to_string(n))) << changes << " changes, " << words << " words";
    }
    t.reset();
    std::filesystem::remove(this->path_);
  }
}

/// Nor is it that of a sync under way, whose end does not say what the disk has of later changes.
TYPED_TEST(durable_superblock, changed_beside_a_sync_is_another_copy) {
  using fixture = TestFixture;
  auto t = must_open<typename fixture::table>(this->path_, fixture::with_space);
  ASSERT_NO_FATAL_FAILURE(fixture::put_entries(*t));
  ASSERT_TRUE(t->sync());
  auto& home = cubby::detail::engine_access::file_of(*t);
  const bytes before = bytes_in(this->path_);
  const std::uint64_t durable = offset_of_superblock(before);
  home.set_note(1);
  const std::uint64_t asked = offset_of_superblock(bytes_in(this->path_));
  static std::function<void()> meanwhile;
  meanwhile = [&] {
    for (std::uint64_t n = 2; n < 12; ++n) home.set_note(n);
  };
  cubby::detail::file::installed_sync() = [](int) {
    if (meanwhile) std::exchange(meanwhile, nullptr)();
    return 0;
  };
  const bytes asked_for = bytes_in(this->path_);
  EXPECT_TRUE(home.sync_file());
  cubby::detail::file::installed_sync() = nullptr;
  const bytes after = bytes_in(this->path_);
  for (const std::uint64_t at : {durable, asked}) {
    EXPECT_EQ(std::memcmp(&asked_for[at], &after[at], sector), 0) << at;
  }
}

/// What a kill in the middle of a change leaves.
TYPED_TEST(durable_superblock, changed_leaves_the_one_before_it) {
  using fixture = TestFixture;
  const auto t = must_open<typename fixture::table>(this->path_);
  for (std::uint64_t n = 0; n < 12; ++n) {
    if (n % 3 == 2) ASSERT_TRUE(t->sync());
    const bytes before = bytes_in(this->path_);
    const std::uint64_t newest = offset_of_superblock(before);
    cubby::detail::engine_access::file_of(*t).set_note(n);
    const bytes after = bytes_in(this->path_);
    EXPECT_NE(offset_of_superblock(after), newest);
    EXPECT_EQ(std::memcmp(&before[newest], &after[newest], sector), 0) << n;
  }
}

/// A table that survives only the end of a process is refused after a power cut, whatever superblocks were torn.
TYPED_TEST(durable_superblock, never_says_closed_while_a_writer_has_the_file) {
  using fixture = TestFixture;
  const cubby::durable_options wanted{.survives = cubby::survive::process};
  {
    auto t = must_open<typename fixture::table>(this->path_, wanted);
    ASSERT_NO_FATAL_FAILURE(fixture::put_entries(*t));
    ASSERT_TRUE(t->close());
  }
  for (int changes = 0; changes <= 5; ++changes) {
    write_file(this->cut_, bytes_in(this->path_));
    auto t = must_open<typename fixture::table>(this->cut_, wanted);
    const bytes opened = bytes_in(this->cut_);
    ASSERT_NO_FATAL_FAILURE(fixture::take_extents(*t, changes));
    const bytes now = bytes_in(this->cut_);
    t.reset();
    for (std::uint64_t words = 0; words <= sector / 8; words += 3) {
      write_file(this->cut_, fixture::torn(opened, now, words));
      EXPECT_EQ(fixture::table::open(this->cut_, wanted).error(), cubby::open_error::power_cut)
          << changes << ' ' << words;
    }
  }
}

} // namespace
} // namespace cubby_test
