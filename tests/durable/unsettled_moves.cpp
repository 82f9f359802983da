// SPDX-License-Identifier: Apache-2.0
// Guarantee H on an ordinary file, while a growth is not covered by a sync. The tests have what a power cut leaves of it, a
// recovery that does not end, an erase that has to empty copies, and a child of a fork. In all of these no sync ends the move: each
// one fails.
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "durable/faults.hpp"
#include "durable/files.hpp"
#include "process/child.hpp"
#include "support/fiber_scheduler.hpp"
#include "support/random.hpp"

namespace cubby_test {

/// Texts of one length have one hash.
struct hash_of_length {
  using is_avalanching = void;
  using is_transparent = void;
  std::uint64_t operator()(std::string_view key) const noexcept { return cubby::hash<std::uint64_t>()(key.size()); }
};

} // namespace cubby_test

template <> inline constexpr std::uint64_t cubby::hash_is_stable<cubby_test::hash_of_length> = 80;

namespace cubby_test {
namespace {

using cubby::open_error;
using table = cubby::durable_map<std::uint64_t, std::uint64_t>;
constexpr std::uint64_t entries = 120;
constexpr std::size_t doubled = 700; // entries for which the table doubles

/// What is on the disk after a sync, and what the memory of the system has after a growth since.
struct growth_in_file {
  bytes synced;
  bytes grown;
};

class durable_growth : public testing::Test {
protected:
  std::unique_ptr<table> make() {
    auto t = must_open<table>(path_, {.capacity = 350});
    for (std::uint64_t k = 1; k <= entries; ++k) EXPECT_TRUE(t->insert(k, ~k));
    EXPECT_TRUE(t->sync());
    return t;
  }
  growth_in_file grow(table& t) {
    growth_in_file out;
    out.synced = bytes_in(path_);
    const failing_syncs none;
    EXPECT_TRUE(t.reserve(doubled));
    EXPECT_FALSE(t.sync());
    out.grown = bytes_in(path_);
    EXPECT_LT(out.synced.size(), end_in(out.grown)) << "the growth fits into what the file has";
    return out;
  }
  static std::uint64_t end_in(const bytes& all) {
    return read_at<pool_layout::superblock>(all, offset_of_superblock(all)).end;
  }
  /// A power cut in the growth. The disk has its superblocks, and the file is so long.
  static bytes cut_in(const growth_in_file& g, std::uint64_t size) {
    bytes out = g.synced;
    for (const std::uint64_t from : pool_layout::copy_at)
      write_at(out, from, read_at<pool_layout::superblock>(g.grown, from));
    forge_power_cut(out);
    out.resize(size);
    return out;
  }
  void expect_all(const table& t) {
    EXPECT_EQ(t.size(), entries);
    for (std::uint64_t k = 1; k <= entries; ++k) EXPECT_EQ(t.find(k), ~k) << k;
    EXPECT_TRUE(t.check().ok());
  }

  own_folder folder_;
  std::string path_ = folder_.file("table");
  std::string cut_ = folder_.file("cut");
};

TEST_F(durable_growth, that_is_longer_than_the_file_after_a_power_cut_is_undone) {
  const auto t = make();
  const growth_in_file g = grow(*t);
  for (const std::uint64_t size : {g.synced.size(), g.synced.size() + 4096, g.grown.size() - 4096, g.grown.size()}) {
    SCOPED_TRACE(size);
    write_file(cut_, cut_in(g, size));
    {
      const auto reader = table::open_read_only(cut_);
      ASSERT_TRUE(reader) << reader.message();
      expect_all(*reader);
    }
    for (int again = 0; again < 2; ++again) expect_all(*must_open<table>(cut_));
  }
}

TEST_F(durable_growth, hides_no_loss_of_what_a_sync_has_covered) {
  const auto t = make();
  const growth_in_file g = grow(*t);
  write_file(cut_, cut_in(g, pool_layout::first_extent + 4096));
  const auto got = table::open(cut_);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error(), open_error::truncated) << got.message();
}

TEST_F(durable_growth, is_undone_by_an_open_that_follows_one_without_space) {
  const auto t = make();
  const growth_in_file g = grow(*t);
  write_file(cut_, cut_in(g, g.grown.size()));
  {
    const full_disk full(0);
    EXPECT_FALSE(table::open(cut_)) << "the segment of the growth is to be made";
  }
  const auto got = table::open(cut_);
  ASSERT_TRUE(got) << got.message();
  EXPECT_TRUE(got.recovered().power_cut);
  expect_all(*got);
}

TEST_F(durable_growth, takes_no_segment_that_a_shrink_has_left) {
  const auto t = make();
  ASSERT_TRUE(t->reserve(doubled));
  ASSERT_TRUE(t->sync());
  auto reader = t->handle();
  const auto stay = reader.guard(); // so the shrink leaves the segment as it is
  ASSERT_TRUE(t->shrink_to_fit());
  ASSERT_TRUE(t->sync());
  for (std::uint64_t k = 1; k <= entries; ++k) ASSERT_TRUE(t->erase(k));
  ASSERT_TRUE(t->sync());
  const growth_in_file g = grow(*t);
  write_file(cut_, cut_in(g, g.grown.size()));
  EXPECT_EQ(must_open<table>(cut_)->size(), 0U);
}

TEST_F(durable_growth, lets_a_child_of_a_fork_end_and_leave_the_file_alone) {
  auto t = make();
  const growth_in_file g = grow(*t);
  const int status = status_of_child([&](result_of_child& told) {
    told.expect(t->close(), "close in a child does nothing");
    t.reset();
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(bytes_in(path_) == g.grown);
  expect_all(*t);
}

TEST_F(durable_growth, lets_an_erase_keep_other_keys_with_the_same_hash) {
  using texts = cubby::durable_map<std::string, std::string, hash_of_length>;
  const auto name = [](std::uint64_t n) { return "key " + std::to_string(100 + n); };
  auto t = must_open<texts>(path_, {.capacity = 350});
  for (std::uint64_t n = 0; n < 30; ++n) ASSERT_TRUE(t->insert(name(n), name(n)));
  ASSERT_TRUE(t->sync());
  std::optional<failing_syncs> none(std::in_place);
  ASSERT_TRUE(t->reserve(doubled));
  for (std::uint64_t n = 0; n < 30; n += 2) ASSERT_TRUE(t->assign(name(n), name(n + 1)));
  for (std::uint64_t n = 0; n < 30; n += 3) ASSERT_TRUE(t->erase(name(n)));
  t.reset();
  none.reset();
  t = must_open<texts>(path_); // what stands in the file
  for (std::uint64_t n = 0; n < 30; ++n) {
    const auto got = t->find(name(n));
    EXPECT_EQ(got.has_value(), n % 3 != 0) << n;
    if (got) {
      EXPECT_EQ(*got, name(n % 2 == 0 ? n + 1 : n)) << n;
    }
  }
}

/// An erase that stands still at each of its steps in turn empties copies in a bucket into which another thread inserts. The key has an
/// old copy there, if it has moved, and its words stand in an empty slot. Adds to `alone` how often the inserts ended meanwhile: which slots
/// the keys have is up to the seed of the file.
template <class Table, class Key>
void erase_beside_inserts(const std::string& path, Key key, std::uint64_t erased, std::uint64_t& alone) {
  constexpr std::uint64_t others = 1000, end_of_others = 1040, first = 100, last = 140;
  for (std::uint64_t stop = 0;; ++stop) {
    std::filesystem::remove(path);
    auto t = must_open<Table>(path);
    // Another key has the first slot of the line that the key prefers, so the words of the key stay in the second one.
    for (std::uint64_t n = others; n < end_of_others; ++n) ASSERT_TRUE(t->insert(key(n), 1));
    ASSERT_TRUE(t->insert(key(erased), 1));
    for (std::uint64_t n = others; n < end_of_others; ++n) ASSERT_TRUE(t->erase(key(n)));
    ASSERT_TRUE(t->erase(key(erased)) && t->insert(key(erased), 1));
    ASSERT_TRUE(t->sync());
    std::optional<failing_syncs> none(std::in_place);
    ASSERT_TRUE(t->reserve(t->capacity()));
    auto one = t->handle(), two = t->handle();
    fiber_scheduler turns;
    const auto eraser = turns.start([&] { EXPECT_TRUE(one.erase(key(erased))); });
    const auto writer = turns.start([&] {
      for (std::uint64_t n = first; n < last; ++n) EXPECT_TRUE(two.insert(key(n), n));
    });
    const bool ended = turns.run(eraser, stop) == fiber_scheduler::stopped::finished;
    alone += turns.ends_alone(writer) ? 1 : 0;
    ASSERT_TRUE(turns.finish_all());
    t.reset();
    none.reset();
    t = must_open<Table>(path);
    for (std::uint64_t n = first; n < last; ++n) ASSERT_EQ(t->find(key(n)), n) << "stop " << stop;
    EXPECT_FALSE(t->contains(key(erased)));
    if (ended) break;
  }
}

TEST_F(durable_growth, lets_an_erase_of_the_key_zero_empty_no_slot_that_is_being_filled) {
  std::uint64_t alone = 0;
  for (unsigned round = 0; round < 8; ++round) // each file has a seed of its own
    erase_beside_inserts<table>(path_, [](std::uint64_t n) { return n; }, 0, alone);
  EXPECT_GT(alone, 3U);
}
TEST_F(durable_growth, lets_an_erase_of_words_empty_no_slot_that_is_being_filled) {
  using pair = std::array<std::uint64_t, 2>; // the second word, which is equal in all of them, says that a slot is full
  std::uint64_t alone = 0;
  // If the words of a slot are read too early, an entry is taken for a copy in few of them.
  constexpr std::uint64_t files = 120;
  for (std::uint64_t n = 0; n < files; n += sparse_stride(3))
    erase_beside_inserts<cubby::durable_map<pair, std::uint64_t>>(
        path_, [](std::uint64_t k) { return pair{k, 1}; }, n % 40 + 1, alone);
  EXPECT_GT(alone, 3U);
}

} // namespace
} // namespace cubby_test
