// SPDX-License-Identifier: Apache-2.0
// Guarantee F: growing and shrinking lose nothing and double nothing, with readers and writers at work, from tables of
// one entry, one bin at a time, under every growth policy.
#include <atomic>
#include <vector>

#include "engines.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

template <class Mode>
void expect_exactly(typename Mode::map& m, std::uint64_t from, std::uint64_t to) {
  // A scan may meet an entry again that moves behind it (F.1): ends a growth that is under way.
  if (!claims<Mode>(&cubby::capability_set::scans_once)) {
    ASSERT_TRUE(m.reserve(1));
  }
  EXPECT_EQ(m.size(), to - from);
  std::vector<unsigned> seen(to, 0);
  const bool exact = is_scan_exact(m);
  m.visit_all([&](const auto& k, const auto& v) {
    const std::uint64_t n = Mode::number_of_key(k);
    ASSERT_TRUE(n >= from && n < to) << n;
    ASSERT_EQ(Mode::number(v), n);
    ++seen[n];
  });
  for (std::uint64_t n = from; n < to; ++n) {
    ASSERT_TRUE(seen[n] == 1 || (!exact && seen[n] > 1)) << "key " << n << ", met " << seen[n] << " times";
    ASSERT_TRUE(m.contains(Mode::key(n))) << "key " << n;
  }
}

template <class Mode>
class f_grow_and_shrink : public ::testing::Test {};
TYPED_TEST_SUITE(f_grow_and_shrink, main_modes);

TYPED_TEST(f_grow_and_shrink, any_first_capacity_grows_to_any_size) {
  for (std::size_t capacity = 0; capacity < 40; capacity += capacity < 5 ? 1 : 7) {
    for (const auto growth : growing_policies) {
      table_options o = tiny_options(growth);
      o.capacity = capacity;
      typename TypeParam::map m(o);
      for (std::uint64_t n = 0; n < 600; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
      expect_exactly<TypeParam>(m, 0, 600);
    }
  }
}

TYPED_TEST(f_grow_and_shrink, every_growth_factor_and_piece_size) {
  for (const std::uint32_t factor : {0u, 2u, 3u, 8u, 64u}) {
    for (const std::size_t piece : {1u, 3u, 1000u}) {
      table_options o = tiny_options();
      o.growth_factor = factor;
      o.chunk_bins = o.move_bins = piece;
      o.bins_per_link = factor == 3 ? 8 : 2;
      typename TypeParam::map m(o);
      for (std::uint64_t n = 0; n < 500; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
      expect_exactly<TypeParam>(m, 0, 500);
    }
  }
}

TYPED_TEST(f_grow_and_shrink, capacity_is_what_fits_and_reserve_keeps_its_word) {
  if constexpr (!claims<TypeParam>(&cubby::capability_set::grows)) {
    GTEST_SKIP() << "this engine does not claim to grow";
  } else {
    typename TypeParam::map m(tiny_options());
    m.reserve(5000);
    const auto growths = m.stats().growths;
    EXPECT_GE(m.capacity(), 5000u);
    for (std::uint64_t n = 0; n < 5000; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    EXPECT_EQ(m.stats().growths, growths) << "space that was reserved needs no growth";
    expect_exactly<TypeParam>(m, 0, 5000);
  }
}

TYPED_TEST(f_grow_and_shrink, reserve_ends_a_move_that_writes_have_begun) {
  typename TypeParam::map m(tiny_options());
  std::uint64_t n = 0;
  for (; n < 600 && !m.stats().migrating; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
  EXPECT_TRUE(m.stats().growths != 0 || !claims<TypeParam>(&cubby::capability_set::grows_without_blocking))
      << "nothing has moved";
  ASSERT_TRUE(m.reserve(0));
  EXPECT_FALSE(m.stats().migrating);
  expect_exactly<TypeParam>(m, 0, n);
}

TYPED_TEST(f_grow_and_shrink, reserve_ends_a_rebuild_of_a_fixed_table) {
  table_options o = tiny_options(cubby::growth_policy::fixed);
  o.capacity = 300;
  typename TypeParam::map m(o);
  std::uint64_t n = 0;
  for (; n < 2000 && !m.stats().migrating; ++n) {
    ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    ASSERT_TRUE(m.erase(TypeParam::key(n)));
  }
  EXPECT_TRUE(m.stats().rebuilds != 0 || claims<TypeParam>(&cubby::capability_set::slots_freed_at_once))
      << "nothing was rebuilt";
  ASSERT_TRUE(m.reserve(0));
  EXPECT_FALSE(m.stats().migrating);
  expect_exactly<TypeParam>(m, 0, 0);
}

TYPED_TEST(f_grow_and_shrink, shrink_gives_space_back_and_keeps_every_entry) {
  typename TypeParam::map m(tiny_options());
  for (std::uint64_t n = 0; n < 4000; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
  m.reserve(4000); // ends a growth that may still be under way
  const auto before = m.stats();
  for (std::uint64_t n = 0; n < 3900; ++n) ASSERT_TRUE(m.erase(TypeParam::key(n)));
  m.shrink_to_fit();
  expect_exactly<TypeParam>(m, 3900, 4000);
  if constexpr (claims<TypeParam>(&cubby::capability_set::shrinks)) {
    const auto after = m.stats();
    EXPECT_GT(after.shrinks, before.shrinks);
    EXPECT_LT(m.capacity(), before.capacity / 4);
  }
  for (std::uint64_t n = 0; n < 3900; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
  expect_exactly<TypeParam>(m, 0, 4000);
}

TYPED_TEST(f_grow_and_shrink, the_given_capacity_is_a_lower_bound) {
  if constexpr (!claims<TypeParam>(&cubby::capability_set::shrinks)) {
    GTEST_SKIP() << "this engine does not claim to shrink";
  } else {
    table_options o = tiny_options();
    o.capacity = 1000;
    typename TypeParam::map m(o);
    for (std::uint64_t n = 0; n < 4000; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    m.clear();
    m.shrink_to_fit();
    EXPECT_GE(m.capacity(), 1000u);
    EXPECT_LT(m.capacity(), 4000u);
  }
}

TYPED_TEST(f_grow_and_shrink, never_means_never_and_automatic_needs_no_call) {
  if constexpr (!claims<TypeParam>(&cubby::capability_set::shrinks)) {
    GTEST_SKIP() << "this engine does not claim to shrink";
  } else {
    for (const auto policy : {cubby::shrink_policy::never, cubby::shrink_policy::automatic}) {
      table_options o = tiny_options();
      o.shrink = policy;
      typename TypeParam::map m(o);
      for (std::uint64_t n = 0; n < 4000; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
      m.reserve(4000); // ends a growth that may still be under way
      const auto full = m.capacity();
      for (std::uint64_t n = 0; n < 3990; ++n) ASSERT_TRUE(m.erase(TypeParam::key(n)));
      if (policy == cubby::shrink_policy::never) {
        m.shrink_to_fit();
        EXPECT_EQ(m.capacity(), full);
      } else if (claims<TypeParam>(&cubby::capability_set::grows_without_blocking)) {
        m.reserve(1); // ends a migration that is under way
        EXPECT_LT(m.capacity(), full);
        EXPECT_GT(m.stats().shrinks, 0u);
      }
      expect_exactly<TypeParam>(m, 3990, 4000);
    }
  }
}

TYPED_TEST(f_grow_and_shrink, clear_and_release_leaves_a_small_working_table) {
  typename TypeParam::map m(tiny_options());
  for (unsigned round = 0; round < 3; ++round) {
    for (std::uint64_t n = 0; n < 2000; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    const auto full = m.stats();
    m.clear_and_release();
    EXPECT_TRUE(m.empty());
    if constexpr (claims<TypeParam>(&cubby::capability_set::shrinks)) {
      EXPECT_LT(m.stats().bytes, full.bytes);
    }
    for (std::uint64_t n = 0; n < 2000; ++n) ASSERT_FALSE(m.contains(TypeParam::key(n)));
  }
}

template <class Mode>
class f_shared : public ::testing::Test {};
TYPED_TEST_SUITE(f_shared, shared_modes);

/// Two threads push disjoint windows of keys through the table while a third looks at keys that never leave.
template <class Mode>
void windows_under_readers(const table_options& o, std::uint64_t window, std::uint64_t steps, bool resize) {
  constexpr std::uint64_t resident = 50;
  typename Mode::map m(o);
  for (std::uint64_t n = 0; n < resident; ++n) ASSERT_TRUE(m.insert(Mode::key(n), Mode::value(n)));
  std::atomic<unsigned> writing{2};
  run_threads(4, [&](unsigned t) {
    if (t < 2) {
      const std::uint64_t base = 1000 + t * 1000000;
      for (std::uint64_t i = 0; i < steps; ++i) {
        ASSERT_TRUE(m.insert(Mode::key(base + i), Mode::value(base + i))) << i;
        if (i >= window) {
          ASSERT_TRUE(m.erase(Mode::key(base + i - window))) << i;
        }
      }
      writing.fetch_sub(1);
      return;
    }
    random_source random(70 + t);
    while (writing.load() != 0) {
      const std::uint64_t n = random.below(resident);
      const auto got = m.find(Mode::key(n));
      ASSERT_TRUE(got.has_value()) << "key " << n << " was always there";
      ASSERT_EQ(Mode::number(*got), n);
      ASSERT_FALSE(m.contains(Mode::key(resident + n))) << "and this one never";
      if (resize && random.one_in(50)) m.shrink_to_fit();
      if (resize && random.one_in(200)) m.reserve(random.below(4 * window + 1));
    }
  });
  EXPECT_EQ(m.size(), resident + 2 * std::min(window, steps));
  for (std::uint64_t n = 0; n < resident; ++n) ASSERT_TRUE(m.contains(Mode::key(n)));
  for (unsigned t = 0; t < 2; ++t) {
    const std::uint64_t base = 1000 + t * 1000000;
    for (std::uint64_t i = 0; i < steps; ++i) {
      ASSERT_EQ(m.contains(Mode::key(base + i)), i + window >= steps) << i;
    }
  }
}

TYPED_TEST(f_shared, growth_under_readers_and_writers) {
  for (const auto growth : growing_policies) {
    windows_under_readers<TypeParam>(tiny_options(growth), ~std::uint64_t{0} / 4, scaled(4000), false);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TYPED_TEST(f_shared, a_moving_window_with_shrink_and_reserve_under_readers) {
  for (const auto growth : growing_policies) {
    windows_under_readers<TypeParam>(tiny_options(growth), 40, scaled(4000), true);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TYPED_TEST(f_shared, automatic_shrink_under_readers) {
  table_options o = tiny_options();
  o.shrink = cubby::shrink_policy::automatic;
  for (const std::uint64_t window : {30u, 900u}) {
    windows_under_readers<TypeParam>(o, window, scaled(4000), false);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

} // namespace
} // namespace cubby_test
