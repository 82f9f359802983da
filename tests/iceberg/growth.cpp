// SPDX-License-Identifier: Apache-2.0
// Iceberg while it grows and shrinks, with entries in the front yard, in the back yard and in chains. No key is lost or
// doubled. The counters stay exact with more threads than processors, and doublings have no last one in reach.
#include <atomic>
#include <thread>
#include <vector>

#include "engines.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

/// 128 keys share a hash, so that each group fills its front bucket, both back buckets, and a chain.
struct crowding_hash {
  using is_avalanching = void;
  using is_transparent = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return splitmix(key / 128); }
  std::uint64_t operator()(std::string_view text) const noexcept {
    return splitmix(text.empty() ? 0U : static_cast<unsigned char>(text[0]));
  }
};

using crowded_map = cubby::map<std::uint64_t, std::uint64_t, cubby::iceberg, crowding_hash>;

template <class Map>
void expect_each_once(Map& m, std::uint64_t count) {
  std::vector<unsigned> met(count, 0);
  std::uint64_t strangers = 0;
  m.visit_all([&](std::uint64_t k, std::uint64_t v) {
    if (k < count && v == ~k) ++met[k];
    else ++strangers;
  });
  EXPECT_EQ(strangers, 0u);
  for (std::uint64_t k = 0; k < count; ++k) {
    ASSERT_EQ(met[k], 1u) << k;
    ASSERT_EQ(m.find(k), ~k) << k;
  }
  EXPECT_EQ(m.size(), count);
}

TEST(iceberg_growth, keeps_groups_that_reach_into_chains) {
  crowded_map m(tiny_options());
  for (std::uint64_t k = 0; k < 1280; ++k) ASSERT_TRUE(m.insert(k, ~k));
  EXPECT_GT(m.stats().chained, 0u);
  expect_each_once(m, 1280);
  ASSERT_TRUE(m.reserve(10000));
  expect_each_once(m, 1280);
  ASSERT_TRUE(m.shrink_to_fit());
  expect_each_once(m, 1280);
  for (std::uint64_t k = 0; k < 1280; ++k) ASSERT_TRUE(m.erase(k)) << k;
  EXPECT_EQ(m.size(), 0u);
  EXPECT_EQ(m.stats().chained, 0u);
  for (std::uint64_t k = 0; k < 1280; ++k) ASSERT_FALSE(m.contains(k)) << k;
}

/// A growth moves entries to the front yard if it has space there, so that lookups look there alone.
TEST(iceberg_growth, empties_the_chains) {
  crowded_map m(tiny_options());
  for (std::uint64_t k = 0; k < 100; ++k) ASSERT_TRUE(m.insert(k, ~k));
  ASSERT_GT(m.stats().chained, 0u);
  for (std::uint64_t k = 0; k < 50; ++k) ASSERT_TRUE(m.erase(k));
  ASSERT_TRUE(m.reserve(1000));
  EXPECT_EQ(m.stats().chained, 0u);
  for (std::uint64_t k = 50; k < 100; ++k) ASSERT_EQ(m.find(k), ~k);
}

TEST(iceberg_growth, passes_the_eighth_doubling_and_many_more) {
  cubby::map<std::uint64_t, std::uint64_t, cubby::iceberg> m(tiny_options());
  std::uint64_t count = 0;
  while (m.stats().growths < 9) {
    for (std::uint64_t last = count + 500; count < last; ++count) ASSERT_TRUE(m.insert(count, ~count));
  }
  expect_each_once(m, count);
  const std::uint64_t most = scaled(1) > 1 ? 20 : 14; // a gigabyte of pages, most of them never written
  while (m.stats().growths < most) {
    ASSERT_TRUE(m.reserve(m.capacity()));
    for (std::uint64_t last = count + 100; count < last; ++count) ASSERT_TRUE(m.insert(count, ~count));
  }
  for (std::uint64_t k = 0; k < count; ++k) ASSERT_EQ(m.find(k), ~k) << k;
  ASSERT_TRUE(m.shrink_to_fit());
  EXPECT_GE(m.stats().shrinks, most - 10);
  expect_each_once(m, count);
}

template <class Mode>
class iceberg_grows_beside : public ::testing::Test {};
using growing_modes = ::testing::Types<word_mode<cubby::iceberg>, text_mode<cubby::iceberg>,
                                       slot_text_mode<cubby::iceberg>, tuple_mode<cubby::iceberg>>;
TYPED_TEST_SUITE(iceberg_grows_beside, growing_modes);

/// Each thread sees its own inserts at once, and no thread's go, from 64 slots up to thousands.
TYPED_TEST(iceberg_grows_beside, two_threads_and_loses_no_key) {
  for (const auto growth : growing_policies) {
    const std::uint64_t share = scaled(3000);
    typename TypeParam::map m(tiny_options(growth));
    run_threads(2, [&](unsigned t) {
      random_source random(2100 + t);
      for (std::uint64_t i = 0; i < share; ++i) {
        const std::uint64_t k = i * 2 + t;
        ASSERT_TRUE(m.insert(TypeParam::key(k), TypeParam::value(k))) << k;
        const std::uint64_t old = random.below(i + 1) * 2 + t;
        const auto got = m.find(TypeParam::key(old));
        ASSERT_TRUE(got.has_value()) << "lost " << old << " after " << i;
        ASSERT_EQ(TypeParam::number(*got), old);
      }
    });
    EXPECT_EQ(m.size(), 2 * share);
    std::uint64_t more = 2 * share; // a thread with the last unit of a move may have slept while the others inserted
    EXPECT_TRUE(eventually([&] {
      EXPECT_TRUE(m.insert(TypeParam::key(more), TypeParam::value(more)) && m.erase(TypeParam::key(more)));
      ++more;
      return m.stats().growths > 4;
    }));
    ASSERT_TRUE(m.reserve(2 * share)); // the move in progress ends, which could show an entry twice (F.1)
    std::vector<unsigned> met(2 * share, 0);
    m.visit_all([&](const auto& k, const auto&) { ++met[TypeParam::number_of_key(k)]; });
    for (std::uint64_t k = 0; k < 2 * share; ++k) ASSERT_EQ(met[k], 1u) << k;
  }
}

/// One thread grows and shrinks all the time: what the others have inserted is always found, what they have erased never.
TYPED_TEST(iceberg_grows_beside, finds_while_it_grows_and_shrinks) {
  constexpr std::uint64_t stable = 200;
  typename TypeParam::map m(tiny_options());
  for (std::uint64_t k = 0; k < stable; ++k) ASSERT_TRUE(m.insert(TypeParam::key(k), TypeParam::value(k)));
  std::atomic<bool> stop{false};
  run_threads(2, [&](unsigned t) {
    if (t == 1) {
      for (std::uint64_t round = 0; round < scaled(60); ++round) {
        (void)m.reserve(3000);
        (void)m.shrink_to_fit();
      }
      stop.store(true);
      return;
    }
    random_source random(2200);
    std::uint64_t own = stable;
    while (!stop.load()) {
      const std::uint64_t k = random.below(stable);
      const auto got = m.find(TypeParam::key(k));
      ASSERT_TRUE(got.has_value()) << "missed " << k;
      ASSERT_EQ(TypeParam::number(*got), k);
      ASSERT_TRUE(m.insert(TypeParam::key(own), TypeParam::value(own))) << own;
      ASSERT_FALSE(m.insert(TypeParam::key(own), TypeParam::value(own))) << own;
      ASSERT_TRUE(m.erase(TypeParam::key(own))) << own;
      ASSERT_FALSE(m.contains(TypeParam::key(own))) << own;
      ++own;
    }
  });
  EXPECT_EQ(m.size(), stable);
  EXPECT_GT(m.stats().shrinks, 0u);
}

/// The published counters have a place for each processor: threads beyond that write outside.
TEST(iceberg_counters, stay_exact_with_more_threads_than_processors) {
  const unsigned threads = 4 * std::thread::hardware_concurrency() + 3;
  cubby::map<std::uint64_t, std::uint64_t, cubby::iceberg> m(tiny_options());
  const std::uint64_t share = scaled(200);
  run_threads(threads, [&](unsigned t) {
    for (std::uint64_t i = 0; i < share; ++i) {
      const std::uint64_t k = i * threads + t;
      ASSERT_TRUE(m.insert(k, ~k));
      if (i % 4 == 3) {
        ASSERT_TRUE(m.erase(k));
      }
    }
  });
  EXPECT_EQ(m.size(), threads * (share - share / 4));
  std::uint64_t met = 0;
  m.visit_all([&](std::uint64_t k, std::uint64_t v) { met += v == ~k ? 1 : 0; });
  EXPECT_EQ(met, m.size());
}

TEST(iceberg_counters, of_threads_that_end_stay) {
  cubby::map<std::uint64_t, std::uint64_t, cubby::iceberg> m(tiny_options());
  for (std::uint64_t n = 0; n < 50; ++n) std::thread([&] { ASSERT_TRUE(m.insert(n, ~n)); }).join();
  expect_each_once(m, 50);
}

} // namespace
} // namespace cubby_test
