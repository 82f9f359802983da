// SPDX-License-Identifier: Apache-2.0
// What seph promises of its segments: entries moved by a split, space that comes back. Holes of the published code that
// are about one thread have their tests here: tombstones that were read, and segments that were never freed.
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/map.hpp>
#include <cubby/seph.hpp>
#include <cubby/set.hpp>

#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

using word_map = cubby::map<std::uint64_t, std::uint64_t, cubby::seph>;

cubby::seph::options small_segments(cubby::growth_policy growth = cubby::growth_policy::incremental) {
  cubby::seph::options o;
  o.segment_bits = 1;
  o.growth = growth;
  return o;
}

template <class Map>
void expect_exactly(const Map& m, std::uint64_t from, std::uint64_t to) {
  std::vector<unsigned> met(to, 0);
  m.visit_all([&](std::uint64_t k, std::uint64_t v) {
    ASSERT_LT(k, to);
    ASSERT_EQ(v, ~k);
    ++met[k];
  });
  for (std::uint64_t k = 0; k < to; ++k) {
    ASSERT_EQ(met[k], k >= from ? 1u : 0u) << k;
    ASSERT_EQ(m.contains(k), k >= from) << k;
  }
  EXPECT_EQ(m.size(), to - from);
  std::vector<std::uint64_t> keys(to);
  std::iota(keys.begin(), keys.end(), 0);
  EXPECT_EQ(
      m.visit_batch(keys, [&](std::size_t k,
                              const std::uint64_t* v) { ASSERT_EQ(v != nullptr, k >= from) << k << " in a batch"; }),
      to - from);
}

/// All keys have this hash.
struct one_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t) const noexcept { return 0x0123456789abcdefULL; }
};
using crowded_map = cubby::map<std::uint64_t, std::uint64_t, cubby::seph, one_hash>;

/// From an empty table, too, many levels below its one segment.
TEST(seph_segments, make_space_for_any_number_of_entries) {
  CUBBY_SKIP_UNDER_TSAN();
  for (const std::size_t entries : {std::size_t{1000}, std::size_t{20'000}, std::size_t{300'000}}) {
    word_map m(small_segments());
    ASSERT_TRUE(m.insert(1, ~std::uint64_t{1}));
    ASSERT_TRUE(m.reserve(entries));
    EXPECT_GE(m.capacity(), entries);
    const auto growths = m.stats().growths;
    for (std::uint64_t k = 0; k < entries / 2; ++k) m.insert(k, ~k);
    EXPECT_EQ(m.stats().growths, growths) << "it grows although space was made";
    ASSERT_TRUE(m.reserve(entries * 3)) << "also of a table that is in use";
    expect_exactly(m, 0, entries / 2);
  }
}

/// A leaf is looked up one group ahead, and the function that is shown the first answer puts the key into a leaf below it. A split for another bucket
/// is needed: if the bucket of the key fills, lookups read on, and meet marks there.
TEST(seph_segments, that_split_in_a_batch_do_not_put_an_older_answer_behind_a_newer_one) {
  constexpr std::size_t more_than_a_group = 40;
  for (std::uint64_t key = 0; key < 20; ++key) {
    word_map m(small_segments());
    ASSERT_TRUE(m.insert(key, 1));
    const std::vector<std::uint64_t> equal(more_than_a_group, key);
    std::uint64_t last = 0;
    m.visit_batch(equal, [&](std::size_t i, const std::uint64_t* v) {
      if (i == 0) {
        ASSERT_TRUE(v != nullptr && m.erase(key) && m.reserve(20'000) && m.insert(key, 2));
        return;
      }
      const std::uint64_t seen = v == nullptr ? 0 : *v;
      ASSERT_GE(seen, last) << key << ", answer " << i;
      last = seen;
    });
    EXPECT_EQ(last, 2U) << key;
  }
}

/// The slot that the batch has met has a mark then, and the older value.
TEST(seph_segments, that_split_in_a_batch_do_not_show_a_value_that_was_replaced) {
  constexpr std::size_t more_than_a_group = 40;
  for (std::uint64_t key = 0; key < 20; ++key) {
    word_map m(small_segments());
    ASSERT_TRUE(m.insert(key, 1));
    const std::vector<std::uint64_t> equal(more_than_a_group, key);
    m.visit_batch(equal, [&](std::size_t i, const std::uint64_t* v) {
      ASSERT_NE(v, nullptr);
      if (i == 0) ASSERT_TRUE(m.reserve(20'000) && m.assign(key, 2));
      else ASSERT_EQ(*v, 2U) << key << ", answer " << i;
    });
  }
}

TEST(seph_segments, take_64_keys_of_one_hash_and_refuse_one_more) {
  crowded_map m(small_segments());
  for (std::uint64_t k = 0; k < 64; ++k) ASSERT_EQ(m.try_insert(k, ~k), cubby::outcome::inserted) << k;
  EXPECT_EQ(m.try_insert(64, 0), cubby::outcome::crowded);
  EXPECT_EQ(m.try_insert(63, 0), cubby::outcome::exists);
  expect_exactly(m, 0, 64);
}

/// A full bucket with tombstones is written anew, and keys of one hash take the slots again.
TEST(seph_segments, tombstones_of_a_crowded_bucket_are_reclaimed) {
  crowded_map m(small_segments());
  for (std::uint64_t round = 0; round < 50; ++round) {
    for (std::uint64_t k = 0; k < 40; ++k)
      ASSERT_EQ(m.try_insert(round * 40 + k, round), cubby::outcome::inserted) << round;
    for (std::uint64_t k = 0; k < 40; ++k) ASSERT_TRUE(m.erase(round * 40 + k));
  }
  EXPECT_EQ(m.size(), 0u);
  EXPECT_GT(m.stats().rebuilds, 0u);
}

TEST(seph_segments, churn_at_a_constant_size_keeps_the_space_bounded) {
  CUBBY_SKIP_UNDER_TSAN();
  word_map m(small_segments());
  constexpr std::uint64_t live = 2000;
  for (std::uint64_t k = 0; k < live; ++k) ASSERT_TRUE(m.insert(k, ~k));
  std::size_t most = 0;
  for (std::uint64_t k = live; k < 100 * live; ++k) {
    ASSERT_TRUE(m.erase(k - live));
    ASSERT_TRUE(m.insert(k, ~k));
    if (k % live == 0) most = std::max(most, m.capacity());
  }
  EXPECT_LE(most, 6 * live) << "a load of a sixth at the worst, where half of the slots may be dead";
  expect_exactly(m, 99 * live, 100 * live);
}

TEST(seph_segments, mass_erase_gives_the_space_back) {
  CUBBY_SKIP_UNDER_TSAN();
  word_map m(small_segments());
  constexpr std::uint64_t count = 50000;
  for (std::uint64_t k = 0; k < count; ++k) ASSERT_TRUE(m.insert(k, ~k));
  const auto full = m.stats();
  for (std::uint64_t k = 0; k < count - 100; ++k) ASSERT_TRUE(m.erase(k));
  ASSERT_TRUE(m.shrink_to_fit());
  const auto after = m.stats();
  EXPECT_LT(after.bytes, full.bytes / 4);
  EXPECT_LT(after.capacity, full.capacity / 100);
  expect_exactly(m, count - 100, count);
}

/// One-third splitting: a split moves a lower half, which has at most a third of the slots. So it moves at most as many entries as half a
/// segment has slots, and each entry moves at most once in two levels.
TEST(seph_segments, a_split_moves_a_lower_half_alone) {
  CUBBY_SKIP_UNDER_TSAN();
  word_map m;
  for (std::uint64_t k = 0; k < 400000; ++k) ASSERT_TRUE(m.insert(k, ~k));
  const auto now = m.stats();
  EXPECT_GT(now.growths, 100u);
  EXPECT_LE(now.moved, now.growths * 32 * 32);
  EXPECT_LE(now.moved, now.size) << "on average less than once an entry";
}

/// Dereference-free rehashing, with the background thread that renews foreseers.
TEST(seph_segments, splits_read_few_items) {
  word_map m(cubby::seph::options{{.growth = cubby::growth_policy::background}, {.segment_bits = 3}});
  for (std::uint64_t k = 0; k < 400000; ++k) ASSERT_TRUE(m.insert(k, ~k));
  const auto now = m.stats();
  EXPECT_GT(now.moved, 100000u);
  EXPECT_LE(now.dereferenced * 100, now.moved);
}

/// Without that thread a split reads the items whose foreseers have ended, and no key is lost by it.
TEST(seph_segments, foreseers_that_have_ended_are_read_from_items) {
  CUBBY_SKIP_UNDER_TSAN();
  word_map m(small_segments());
  constexpr std::uint64_t count = 300;
  for (std::uint64_t k = 0; k < count; ++k) ASSERT_TRUE(m.insert(k, ~k));
  for (std::uint64_t entries = 1000; entries < 4000000; entries *= 2) {
    ASSERT_TRUE(m.reserve(entries));
    for (std::uint64_t k = 0; k < count; ++k) ASSERT_EQ(m.find(k), ~k) << entries;
  }
  EXPECT_GT(m.stats().dereferenced, 0u);
  expect_exactly(m, 0, count);
}

/// A hash that differs in its lowest bits only.
struct low_hash {
  using is_modulo = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key; }
};
TEST(seph_segments, hashes_that_are_taken_modulo_do_not_crowd) {
  cubby::map<std::uint64_t, std::uint64_t, cubby::seph, low_hash> m(small_segments());
  for (std::uint64_t k = 0; k < 20000; ++k) ASSERT_TRUE(m.insert(k, ~k));
  EXPECT_LT(m.capacity(), 100000u);
  expect_exactly(m, 0, 20000);
}

/// Scans go on over segments that split and merge under them.
TEST(seph_segments, a_scan_meets_each_entry_once_while_segments_merge_and_split) {
  word_map m(small_segments());
  constexpr std::uint64_t stays = 3000;
  for (std::uint64_t k = 0; k < stays; ++k) ASSERT_TRUE(m.insert(k, ~k));
  ASSERT_TRUE(m.reserve(20000));
  std::vector<unsigned> met(stays, 0);
  std::uint64_t shown = 0;
  m.visit_all([&](std::uint64_t k, std::uint64_t) {
    if (k < stays) ++met[k];
    if (++shown % 500 == 0) {
      if (shown % 1000 == 0) m.reserve(30000);
      else m.shrink_to_fit();
    }
  });
  for (std::uint64_t k = 0; k < stays; ++k) ASSERT_EQ(met[k], 1u) << k;
}

TEST(seph_segments, readers_keep_their_records_through_splits_and_erases) {
  cubby::map<std::uint64_t, std::string, cubby::seph> m(small_segments());
  constexpr std::uint64_t count = 4000;
  for (std::uint64_t k = 0; k < count; ++k) ASSERT_TRUE(m.insert(k, std::to_string(k)));
  run_threads(3, [&](unsigned t) {
    random_source random(t + 1);
    for (std::uint64_t i = 0; i < scaled(4000); ++i) {
      const std::uint64_t k = random.below(count);
      if (t == 0) {
        m.visit(k, [&](const std::string& v) {
          m.erase(k);
          for (std::uint64_t more = 0; more < 20; ++more) m.insert(count + i * 20 + more, "x");
          ASSERT_EQ(v, std::to_string(k));
        });
      } else if (t == 1) {
        m.insert_or_assign(k, std::to_string(k));
      } else if (i % 50 == 0) {
        m.shrink_to_fit();
      } else if (const auto v = m.find(k)) {
        ASSERT_EQ(*v, std::to_string(k));
      }
    }
  });
}

TEST(seph_segments, sets_of_words_and_texts) {
  cubby::set<std::uint64_t, cubby::seph> words;
  cubby::set<std::string, cubby::seph> texts;
  for (std::uint64_t k = 0; k < 5000; ++k) {
    ASSERT_TRUE(words.insert(k));
    ASSERT_TRUE(texts.insert(std::to_string(k)));
  }
  for (std::uint64_t k = 0; k < 5000; ++k) {
    ASSERT_TRUE(words.contains(k) && texts.contains(std::to_string(k)));
    ASSERT_FALSE(words.insert(k) || texts.insert(std::to_string(k)));
  }
}

} // namespace
} // namespace cubby_test
