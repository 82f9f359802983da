// SPDX-License-Identifier: Apache-2.0
// Guarantees C, F and G of a partitioned table. Values are whole and under their own key while partitions grow, shrink and are
// rebuilt, and nothing is lost or doubled. A `fixed` one says that it is full and loses nothing that it has accepted. Old
// arrays are freed, and not under a reader.
#include "partitioned/ways.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test::partitioned_tests {
namespace {

class partitioned_growth : public ::testing::TestWithParam<way> {};
INSTANTIATE_TEST_SUITE_P(partitioned, partitioned_growth, ::testing::ValuesIn(every_way),
                         [](const auto& one) { return one.param.name; });

constexpr std::uint64_t hot = 24;

void send_some(map::handle_type& h, random_source& random, std::uint64_t i, std::uint64_t salt) {
  const std::uint64_t k = random.below(hot);
  if (random.one_in(4)) h.erase(k);
  else h.insert_or_assign(k, i * hot + k);
  // Other keys make the partitions grow, and leave dead slots behind.
  const std::uint64_t filler = 1000 + salt * 1000000 + i;
  h.insert_or_assign(filler, filler);
  if (i >= 300) h.erase(filler - 300);
  if (random.one_in(500)) h.flush();
}

/// Keys that never go are found at every moment; hot ones, if they are found, carry a value that was stored under them.
void watch(map& m, random_source& random, const std::atomic<bool>& stop) {
  constexpr std::uint64_t asked_at_once = 50;
  std::vector<std::uint64_t> asked, values(asked_at_once);
  for (std::uint64_t k = 0; k < asked_at_once; ++k) asked.push_back(k < hot ? k : 500 + k);
  bool found[asked_at_once];
  const auto check = [](std::uint64_t k, std::uint64_t v) {
    if (k < hot) ASSERT_EQ(v % hot, k) << "a value of another key";
    else ASSERT_EQ(v, k) << "a value of another key";
  };
  while (!stop.load()) {
    const std::uint64_t k = random.below(hot);
    if (const auto got = m.find(k)) check(k, *got);
    m.find_batch(asked, values, found);
    for (std::uint64_t i = 0; i < asked_at_once; ++i) {
      if (found[i]) check(asked[i], values[i]);
      else ASSERT_LT(asked[i], hot) << "lost " << asked[i];
    }
    std::uint64_t met = 0;
    m.visit_all([&](std::uint64_t key, std::uint64_t v) {
      check(key, v);
      if (key >= 500 && key < 1000) ++met;
    });
    ASSERT_EQ(met, asked_at_once - hot) << "a scan missed an entry, or met it twice";
  }
}

TEST_P(partitioned_growth, shows_whole_pairs_and_keeps_what_is_there) {
  map m(tiny(GetParam()));
  {
    auto h = m.handle();
    for (std::uint64_t k = hot; k < 50; ++k) h.insert_or_assign(500 + k, 500 + k);
  }
  std::atomic<bool> stop{false};
  std::atomic<unsigned> writers{2};
  run_threads(4, [&](unsigned t) {
    random_source random(6400 + t);
    if (t >= 2) return watch(m, random, stop);
    auto h = handle_of(m, GetParam(), t, 2);
    for (std::uint64_t i = 0; i < scaled(4000); ++i) {
      send_some(h, random, i, t);
      if (i % 1000 == 999) t == 0 ? m.shrink_to_fit() : m.reserve(200 + random.below(2000));
    }
    EXPECT_TRUE(h.flush());
    if (writers.fetch_sub(1) == 1) stop.store(true);
  });
  const auto s = m.stats();
  EXPECT_GT(s.growths + s.rebuilds + s.shrinks, 0u) << "nothing ever moved: the test showed nothing";
}

TEST_P(partitioned_growth, loses_and_doubles_nothing) {
  map m(tiny(GetParam()));
  const std::uint64_t entries = scaled(20000);
  auto h = handle_of(m, GetParam());
  for (std::uint64_t k = 0; k < entries; ++k) ASSERT_EQ(h.insert_or_assign(k, ~k), outcome::done);
  ASSERT_TRUE(h.flush());
  ASSERT_EQ(m.size(), entries);
  for (std::uint64_t k = 0; k < entries; ++k) ASSERT_EQ(m.find(k), ~k);
  EXPECT_GE(m.stats().growths, m.partitions());
  for (std::uint64_t k = 0; k < entries; ++k)
    if (k % 16 != 0) h.erase(k);
  ASSERT_TRUE(h.flush());
  const auto before = m.capacity();
  ASSERT_TRUE(m.shrink_to_fit());
  EXPECT_LT(m.capacity(), before / 4);
  std::vector<unsigned> met(entries, 0);
  m.visit_all([&](std::uint64_t k, std::uint64_t v) {
    ASSERT_EQ(v, ~k);
    ++met[k];
  });
  for (std::uint64_t k = 0; k < entries; ++k) ASSERT_EQ(met[k], k % 16 == 0 ? 1u : 0u) << k;
}

/// Dead slots are given back by arrays of the same size: a table of few entries stays small for ever.
TEST_P(partitioned_growth, does_not_grow_by_coming_and_going) {
  map m(tiny(GetParam()));
  auto h = handle_of(m, GetParam());
  for (std::uint64_t i = 0; i < scaled(30000); ++i) {
    h.insert_or_assign(i, i);
    if (i >= 20) h.erase(i - 20);
  }
  ASSERT_TRUE(h.flush());
  EXPECT_EQ(m.size(), 20u);
  const auto s = m.stats();
  EXPECT_GT(s.rebuilds, 0u);
  EXPECT_LE(s.capacity, m.partitions() * 64 * 2) << "it grew although it never held many entries";
}

TEST_P(partitioned_growth, frees_old_arrays_in_the_end_and_not_under_a_pin) {
  map m(tiny(GetParam()));
  auto h = handle_of(m, GetParam());
  const auto fill = [&](std::uint64_t entries) {
    for (std::uint64_t k = 0; k < entries; ++k) h.insert_or_assign(k, k);
    ASSERT_TRUE(h.flush());
  };
  fill(10);
  std::uint64_t scanned = 0;
  m.visit_all([&](std::uint64_t k, std::uint64_t v) {
    if (scanned++ == 0) fill(3000); // the scan is in an array that has been replaced from now on
    ASSERT_EQ(v, k);
    EXPECT_GT(m.stats().retired, 0u) << "freed under a reader";
  });
  EXPECT_GE(scanned, 10u);
  ASSERT_TRUE(m.shrink_to_fit());
  ASSERT_TRUE(m.shrink_to_fit()); // frees what the first one replaced
  EXPECT_EQ(m.stats().retired, 0u);
}

TEST_P(partitioned_growth, that_is_fixed_says_full_and_keeps_what_it_accepted) {
  auto o = tiny(GetParam());
  o.capacity = 600;
  o.growth = cubby::growth_policy::fixed;
  map m(o);
  auto h = handle_of(m, GetParam());
  std::vector<std::uint64_t> accepted;
  bool full = false;
  for (std::uint64_t k = 0; k < 200000 && !full; ++k) {
    full = h.insert_or_assign(k, k + 1) == outcome::full;
    if (!full) accepted.push_back(k);
  }
  ASSERT_TRUE(full);
  ASSERT_TRUE(h.flush());
  EXPECT_GE(accepted.size(), o.capacity);
  ASSERT_EQ(m.size(), accepted.size()) << "an accepted write was lost";
  for (const auto k : accepted) ASSERT_EQ(m.find(k), k + 1);
  // Where it is full, what is there may still change and go, and what goes makes space.
  std::uint64_t refused = 1000000;
  while (h.insert_or_assign(refused, 1) == outcome::done) {
    ASSERT_TRUE(h.flush());
    ++refused;
  }
  std::uint64_t gone = 0;
  for (const auto k : accepted) {
    if (m.size() < o.capacity) break; // what was on its way at the bound has gone, too
    ASSERT_EQ(h.insert_or_add(k, 5), outcome::done);
    ASSERT_TRUE(h.flush());
    ASSERT_EQ(m.find(k), k + 6);
    h.erase(k);
    ++gone;
  }
  ASSERT_TRUE(h.flush());
  ASSERT_GT(gone, 0u);
  ASSERT_EQ(h.insert_or_assign(refused, 7), outcome::done);
  ASSERT_TRUE(h.flush());
  EXPECT_EQ(m.find(refused), 7u);
  EXPECT_FALSE(m.reserve(100 * o.capacity));
}

TEST(partitioned_sizes, that_cannot_be_had_are_refused) {
  cubby::partitioned::options o;
  o.capacity = ~std::size_t{0};
  EXPECT_THROW(map{o}, std::bad_alloc);
  map m;
  EXPECT_FALSE(m.reserve(~std::size_t{0}));
  auto h = m.handle();
  h.insert_or_assign(1, 2);
  EXPECT_TRUE(h.flush());
  EXPECT_EQ(m.find(1), 2u);
}

} // namespace
} // namespace cubby_test::partitioned_tests
