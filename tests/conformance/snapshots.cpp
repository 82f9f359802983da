// SPDX-License-Identifier: Apache-2.0
// A snapshot shows one point in time; a weak scan shows everything that is present throughout. Both run beside writers,
// growth and shrink. The writers keep orders between keys that any cut in time must show.
#include <atomic>
#include <map>
#include <vector>

#include "engines.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

template <class Mode>
class snapshots : public ::testing::Test {};
TYPED_TEST_SUITE(snapshots, shared_modes);

/// One writer counts keys 0..n-1 up in turn: at any time the counters are c, ..., c, c-1, ..., c-1.
template <class Mode>
void expect_staircase(typename Mode::map& m, std::uint64_t keys, std::uint64_t& last_sum) {
  std::map<std::uint64_t, std::uint64_t> seen;
  for (const auto& [k, v] : m.snapshot()) {
    const std::uint64_t n = Mode::number_of_key(k);
    if (n < keys) {
      ASSERT_TRUE(seen.emplace(n, Mode::number(v)).second) << "twice: " << n;
    }
  }
  ASSERT_EQ(seen.size(), keys);
  std::uint64_t sum = 0;
  for (std::uint64_t n = 0; n < keys; ++n) {
    ASSERT_NE(seen[n], torn);
    ASSERT_LE(seen[n], seen[0]) << "key " << n << " was counted before its turn";
    ASSERT_LE(seen[0], seen[n] + 1) << "key " << n << " was left behind";
    if (n > 0) {
      ASSERT_LE(seen[n], seen[n - 1]) << "key " << n;
    }
    sum += seen[n];
  }
  ASSERT_GE(sum, last_sum) << "time does not run backwards from one snapshot to the next";
  last_sum = sum;
}

TYPED_TEST(snapshots, show_counters_at_one_point_in_time) {
  if constexpr (!claims<TypeParam>(&cubby::capability_set::snapshot)) {
    GTEST_SKIP() << "this engine claims no snapshot";
  } else {
    constexpr std::uint64_t keys = 60;
    for (const auto growth : growing_policies) {
      typename TypeParam::map m(tiny_options(growth));
      for (std::uint64_t n = 0; n < keys; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(100)));
      std::atomic<bool> stop{false};
      run_threads(3, [&](unsigned t) {
        if (t == 0) {
          std::uint64_t last_sum = 0;
          for (unsigned i = 0; i < scaled(60) && !::testing::Test::HasFatalFailure(); ++i) {
            expect_staircase<TypeParam>(m, keys, last_sum);
          }
          stop.store(true);
        } else if (t == 1) {
          for (std::uint64_t c = 101; !stop.load(); ++c) {
            for (std::uint64_t n = 0; n < keys && !stop.load(); ++n) {
              if (c % 2 == 0) m.assign(TypeParam::key(n), TypeParam::value(c));
              else m.update(TypeParam::key(n), [&](const auto&) { return TypeParam::value(c); });
            }
          }
        } else {
          for (std::uint64_t i = 0; !stop.load(); ++i) {
            const std::uint64_t n = keys + i % 300;
            if (i / 300 % 2 == 0) m.insert(TypeParam::key(n), TypeParam::value(n));
            else m.erase(TypeParam::key(n));
            if (i % 1000 == 999) m.shrink_to_fit();
          }
        }
      });
    }
  }
}

/// A token is inserted at its next place before it is erased from its last: at any time one or two places hold it.
TYPED_TEST(snapshots, never_miss_a_token_that_moves) {
  if constexpr (!claims<TypeParam>(&cubby::capability_set::snapshot)) {
    GTEST_SKIP() << "this engine claims no snapshot";
  } else {
    typename TypeParam::map m(tiny_options());
    ASSERT_TRUE(m.insert(TypeParam::key(0), TypeParam::value(0)));
    std::atomic<bool> stop{false};
    run_threads(2, [&](unsigned t) {
      if (t == 0) {
        for (std::uint64_t i = 1; !stop.load(); ++i) {
          ASSERT_TRUE(m.insert(TypeParam::key(i), TypeParam::value(i)));
          ASSERT_TRUE(m.erase(TypeParam::key(i - 1)));
        }
        return;
      }
      std::uint64_t last = 0;
      for (unsigned i = 0; i < scaled(200); ++i) {
        const auto all = m.snapshot();
        std::uint64_t low = torn, high = 0;
        for (const auto& [k, v] : all) {
          low = std::min(low, TypeParam::number_of_key(k));
          high = std::max(high, TypeParam::number_of_key(k));
        }
        EXPECT_TRUE(all.size() == 1 || all.size() == 2) << all.size();
        EXPECT_EQ(high - low + 1, all.size()) << "the two places are neighbours";
        EXPECT_GE(low, last);
        last = low;
      }
      stop.store(true);
    });
  }
}

TYPED_TEST(snapshots, from_many_threads_at_once_all_end) {
  if constexpr (!claims<TypeParam>(&cubby::capability_set::snapshot)) {
    GTEST_SKIP() << "this engine claims no snapshot";
  } else {
    typename TypeParam::map m(tiny_options());
    for (std::uint64_t n = 0; n < 200; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    run_threads(3, [&](unsigned t) {
      for (unsigned i = 0; i < scaled(30); ++i) {
        ASSERT_GE(m.snapshot().size(), 200u);
        m.insert(TypeParam::key(1000 + t * 1000 + i), TypeParam::value(1));
      }
    });
    EXPECT_EQ(m.size(), 200 + 3 * scaled(30));
  }
}

TYPED_TEST(snapshots, weak_scans_see_all_that_stays_while_the_table_grows_and_shrinks) {
  constexpr std::uint64_t stay = 200;
  for (const auto growth : growing_policies) {
    typename TypeParam::map m(tiny_options(growth));
    for (std::uint64_t n = 0; n < stay; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    std::atomic<bool> stop{false};
    run_threads(2, [&](unsigned t) {
      if (t == 0) {
        for (std::uint64_t i = 0; !stop.load(); ++i) {
          const std::uint64_t n = stay + i % 2000;
          if (i / 2000 % 2 == 0) m.insert(TypeParam::key(n), TypeParam::value(n));
          else m.erase(TypeParam::key(n));
          if (i % 4000 == 3999) m.shrink_to_fit();
        }
        return;
      }
      for (unsigned i = 0; i < scaled(100); ++i) {
        std::vector<bool> seen(stay, false);
        m.visit_all([&](const auto& k, const auto& v) {
          const std::uint64_t n = TypeParam::number_of_key(k);
          EXPECT_EQ(TypeParam::number(v), n);
          if (n < stay) seen[n] = true;
        });
        for (std::uint64_t n = 0; n < stay; ++n) EXPECT_TRUE(seen[n]) << "missed " << n;
      }
      stop.store(true);
    });
  }
}

template <class Mode>
class scans : public ::testing::Test {};
TYPED_TEST_SUITE(scans, main_modes);

TYPED_TEST(scans, may_call_the_table) {
  typename TypeParam::map m(tiny_options());
  for (std::uint64_t n = 0; n < 300; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
  m.visit_all([&](const auto& k, const auto&) {
    const std::uint64_t n = TypeParam::number_of_key(k);
    if (n % 2 == 0) m.erase(k);
    else m.insert_or_assign(k, TypeParam::value(n + 1));
  });
  EXPECT_EQ(m.size(), 150u);
  for (std::uint64_t n = 1; n < 300; n += 2) ASSERT_EQ(TypeParam::number(*m.find(TypeParam::key(n))), n + 1);
}

TYPED_TEST(scans, and_snapshots_of_an_empty_table_are_empty) {
  typename TypeParam::map m(tiny_options());
  m.visit_all([](const auto&, const auto&) { ADD_FAILURE(); });
  if constexpr (claims<TypeParam>(&cubby::capability_set::snapshot)) {
    EXPECT_EQ(m.snapshot().size(), 0u);
  }
}

} // namespace
} // namespace cubby_test
