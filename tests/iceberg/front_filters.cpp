// SPDX-License-Identifier: Apache-2.0
// The filters of front buckets with wide slots. Unless a bucket has had more than eight entries behind it, its filter has the bits of those that are there, and no others,
// whatever came and went. So a lookup that misses searches behind few buckets, also in a table whose entries have all been replaced.
#include <map>

#include "iceberg/table_of.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {
namespace front_filters {

namespace yards = cubby::detail::engines::iceberg;
using map_type = iceberg_pairs;
using policy = iceberg_pairs_engine::policy;
using table_type = iceberg_pairs_table;

constexpr std::uint64_t entries = 20'000;

cubby::iceberg::options options_of(std::size_t capacity, unsigned grow_at = 75) { // the default for text keys
  cubby::iceberg::options o;
  o.capacity = capacity;
  o.grow_at = grow_at;
  return o;
}
/// Key `n` of a thread.
std::uint64_t key_of(unsigned thread, std::uint64_t n) { return splitmix(2 * n + thread); }

/// Two threads fill the table and replace each of their entries so many times, in a random order.
void fill_and_churn(map_type& m, unsigned times) {
  run_threads(2, [&](unsigned t) {
    random_source random(8100 + t);
    std::vector<std::uint64_t> mine(entries / 2);
    std::uint64_t next = 0;
    for (std::uint64_t& one : mine) {
      one = next++;
      ASSERT_TRUE(m.insert(key_of(t, one), {one, one}));
    }
    for (std::uint64_t i = 0; i < times * mine.size(); ++i) {
      std::uint64_t& one = mine[random.below(mine.size())];
      ASSERT_TRUE(m.erase(key_of(t, one)));
      one = next++;
      ASSERT_TRUE(m.insert(key_of(t, one), {one, one}));
    }
  });
}

/// The bits of the tags behind each front bucket, computed anew, and how many entries these are.
struct behind {
  std::uint64_t bits = 0;
  unsigned count = 0;
};
std::map<const yards::front_line*, behind> found_behind(const map_type& m) {
  const table_type& t = table_of(m);
  const yards::root_word root = yards::first_root(t);
  std::map<const yards::front_line*, behind> out;
  const auto note = [&](const yards::slot_of<policy>& s) {
    const yards::hashed h = yards::hashed_in(t, yards::hash_of_slot(t.policy, s));
    behind& one = out[yards::front_of(t, h, root.level()).line];
    one.bits |= yards::state::filter_of(h.tag);
    ++one.count;
  };
  for (unsigned number = 0; number <= root.level(); ++number) {
    const auto& s = yards::segment_at(t, number);
    for (std::uint64_t b = 0; b < s.backs; ++b) {
      const std::uint64_t word = s.back_lines[b].load(cubby::detail::sync::relaxed);
      for (unsigned slot = 0; slot < yards::back_slots; ++slot) {
        if ((word >> 8 * slot & 0x7f) != 0) note(s.behind[b * yards::back_slots + slot]);
      }
    }
  }
  yards::for_each_chain_array(t, [&](const yards::chain_array& in) {
    for (std::uint64_t i = 0; i < in.count; ++i) {
      for (auto link = in.heads[i].first.load(cubby::detail::sync::relaxed); link != 0;) {
        const auto& n = *yards::node_at<policy>(link);
        note(n.entry());
        link = n.next.load(cubby::detail::sync::relaxed);
      }
    }
  });
  return out;
}

/// What the filters are compared with what is there.
struct seen_filters {
  unsigned exact = 0, wider = 0; // of buckets with something behind them
};
seen_filters look_at_filters(const map_type& m) {
  const table_type& t = table_of(m);
  EXPECT_FALSE(yards::first_root(t).moving());
  const auto there = found_behind(m);
  seen_filters out;
  for (unsigned number = 0; number <= yards::first_root(t).level(); ++number) {
    const auto& s = yards::segment_at(t, number);
    for (std::uint64_t i = 0; i < s.fronts; ++i) {
      const std::uint64_t word = s.lines[i].state.load(cubby::detail::sync::relaxed);
      const auto at = there.find(&s.lines[i]);
      const behind mine = at == there.end() ? behind{} : at->second;
      const std::uint64_t bits = word & yards::state::filter_mask;
      EXPECT_EQ(mine.bits & ~bits, 0U) << "the filter does not have what is behind the bucket";
      if (!yards::state::has_count(word)) continue;
      EXPECT_EQ(yards::state::count_behind(word), mine.count);
      if (mine.count == 0) {
        EXPECT_EQ(word & (yards::state::filter_mask | yards::state::chained), 0U);
      }
      const std::uint64_t list = yards::listed_behind(t, s.lines[i], word);
      EXPECT_LE(yards::behind_list::length(list), mine.count);
      if (yards::behind_list::length(list) == mine.count) {
        EXPECT_EQ(bits, mine.bits);
      }
      if (mine.count != 0) ++(bits == mine.bits ? out.exact : out.wider);
    }
  }
  return out;
}

TEST(iceberg_front_filters, have_the_bits_of_what_is_behind_alone_after_churn_by_two_threads) {
  map_type m(options_of(entries));
  fill_and_churn(m, 10);
  const seen_filters seen = look_at_filters(m);
  ASSERT_GT(seen.exact, 50U) << "few buckets have something behind them, so this shows nothing";
  EXPECT_LE(seen.wider, seen.exact / 4) << "of buckets that have had more than eight entries behind them";
}

TEST(iceberg_front_filters, are_empty_when_all_entries_are_erased) {
  map_type m(options_of(entries));
  fill_and_churn(m, 3);
  ASSERT_GT(look_at_filters(m).exact, 50U) << "few buckets have something behind them, so this shows nothing";
  std::vector<std::uint64_t> keys;
  m.visit_all([&](std::uint64_t k, const pair_of_words&) { keys.push_back(k); });
  for (const std::uint64_t k : keys) ASSERT_TRUE(m.erase(k));
  EXPECT_TRUE(found_behind(m).empty());
  look_at_filters(m);
}

TEST(iceberg_front_filters, have_what_is_behind_after_growths_and_shrinks) {
  map_type m(options_of(100));
  fill_and_churn(m, 1);
  seen_filters seen = look_at_filters(m);
  for (unsigned round = 0; round < 3; ++round) {
    m.erase_if([&](std::uint64_t, const pair_of_words& v) { return v.low % 4 != round; });
    m.shrink_to_fit();
    ASSERT_GT(m.size(), 0U);
    look_at_filters(m);
    run_threads(2, [&](unsigned t) {
      for (std::uint64_t n = 0; n < entries; ++n) m.insert(key_of(t, (round + 50) * entries + n), {n, n});
    });
    const seen_filters now = look_at_filters(m);
    seen = {seen.exact + now.exact, seen.wider + now.wider};
  }
  EXPECT_GT(seen.exact, 50U) << "few buckets had something behind them and a count, so this showed nothing";
}

/// Of a table that has grown: pairs of buckets that a shrink makes one, with something behind both.
unsigned pairs_with_lists(const map_type& m) {
  const table_type& t = table_of(m);
  const yards::root_word root = yards::first_root(t);
  const std::uint64_t half = yards::top_of(root.level());
  const auto listed = [&](std::uint64_t residue, std::uint64_t copy) {
    const auto& line = *yards::front_at(t, residue, copy).line;
    return yards::listed_behind(t, line, line.state.load(cubby::detail::sync::relaxed)) != 0;
  };
  unsigned out = 0;
  for (std::uint64_t residue = 0; residue < t.fronts; ++residue)
    for (std::uint64_t copy = 0; copy < half; ++copy) out += listed(residue, copy) && listed(residue, copy | half);
  return out;
}
double share_in_use(const map_type& m) {
  const table_type& t = table_of(m);
  const std::uint64_t slots = t.fronts * yards::front_slots<yards::slot_of<policy>> + t.backs * yards::back_slots;
  return static_cast<double>(m.size()) / static_cast<double>(slots << yards::first_root(t).level());
}

TEST(iceberg_front_filters, of_two_buckets_that_merge_are_added) {
  map_type m(options_of(3000, 97));
  for (std::uint64_t n = 0; m.stats().growths < 2 || share_in_use(m) < 0.93; ++n)
    ASSERT_TRUE(m.insert(key_of(0, n), {n, n}));
  m.erase_if([](std::uint64_t, const pair_of_words& v) { return v.low % 8 < 5; });
  look_at_filters(m);
  ASSERT_GT(pairs_with_lists(m), 10U) << "no lists are joined, so this shows nothing";
  m.shrink_to_fit();
  look_at_filters(m);
  // An erase makes the filter anew from the list that was joined.
  m.erase_if([](std::uint64_t, const pair_of_words& v) { return v.low % 8 == 5; });
  const seen_filters seen = look_at_filters(m);
  EXPECT_LT(seen.wider, seen.exact / 2);
}

} // namespace front_filters
} // namespace
} // namespace cubby_test
