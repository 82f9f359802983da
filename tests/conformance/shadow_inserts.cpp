// SPDX-License-Identifier: Apache-2.0
// A shadow insert reserves its key. Every verb misses it, and other inserts find it in their way, until commit shows it
// or abort (or its destructor) takes it back. That holds also while the table grows, shrinks, is scanned and is
// destroyed.
#include <atomic>
#include <optional>
#include <vector>

#include "engines.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

template <class Mode>
class shadow_inserts : public ::testing::Test {};
TYPED_TEST_SUITE(shadow_inserts, main_modes);

template <class Mode>
void expect_hidden(typename Mode::map& m, std::uint64_t n) {
  const auto k = Mode::key(n);
  const auto v = Mode::value(9);
  EXPECT_FALSE(m.contains(k));
  EXPECT_FALSE(m.find(k).has_value());
  EXPECT_EQ(m.visit(k, [](const auto&) {}), 0u);
  EXPECT_FALSE(m.erase(k));
  EXPECT_FALSE(m.extract(k).has_value());
  EXPECT_FALSE(m.assign(k, v));
  EXPECT_FALSE(m.update(k, [&](const auto&) { return v; }));
  EXPECT_FALSE(m.insert(k, v)) << "the key is taken";
  EXPECT_FALSE(m.shadow_insert(k, v));
  m.visit_all([&](const auto& seen, const auto&) { EXPECT_NE(Mode::number_of_key(seen), n); });
}

TYPED_TEST(shadow_inserts, are_hidden_until_commit) {
  if constexpr (!claims<TypeParam>(&cubby::capability_set::shadow_insert)) {
    GTEST_SKIP() << "this engine claims no shadow inserts";
  } else {
    typename TypeParam::map m(tiny_options());
    auto r = m.shadow_insert(TypeParam::key(5), TypeParam::value(50));
    ASSERT_TRUE(r);
    expect_hidden<TypeParam>(m, 5);
    r.commit();
    EXPECT_EQ(TypeParam::number(*m.find(TypeParam::key(5))), 50u);
    EXPECT_EQ(m.size(), 1u);
    EXPECT_FALSE(m.shadow_insert(TypeParam::key(5), TypeParam::value(51)));
  }
}

TYPED_TEST(shadow_inserts, go_away_with_abort_or_with_the_reservation) {
  if constexpr (!claims<TypeParam>(&cubby::capability_set::shadow_insert)) {
    GTEST_SKIP() << "this engine claims no shadow inserts";
  } else {
    typename TypeParam::map m(tiny_options());
    for (unsigned round = 0; round < 50; ++round) {
      auto r = m.shadow_insert(TypeParam::key(5), TypeParam::value(50));
      ASSERT_TRUE(r) << round;
      if (round % 2 == 0) r.abort();
    }
    EXPECT_TRUE(m.empty());
    EXPECT_TRUE(m.insert(TypeParam::key(5), TypeParam::value(1)));
  }
}

TYPED_TEST(shadow_inserts, survive_growth_and_shrink) {
  if constexpr (!claims<TypeParam>(&cubby::capability_set::shadow_insert)) {
    GTEST_SKIP() << "this engine claims no shadow inserts";
  } else {
    for (const auto growth : growing_policies) {
      typename TypeParam::map m(tiny_options(growth));
      auto kept = m.shadow_insert(TypeParam::key(1), TypeParam::value(10));
      auto dropped = m.shadow_insert(TypeParam::key(2), TypeParam::value(20));
      for (std::uint64_t n = 10; n < 1000; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
      expect_hidden<TypeParam>(m, 1);
      for (std::uint64_t n = 10; n < 1000; ++n) ASSERT_TRUE(m.erase(TypeParam::key(n)));
      m.shrink_to_fit();
      expect_hidden<TypeParam>(m, 2);
      kept.commit();
      dropped.abort();
      EXPECT_EQ(TypeParam::number(*m.find(TypeParam::key(1))), 10u);
      EXPECT_FALSE(m.contains(TypeParam::key(2)));
      EXPECT_EQ(m.size(), 1u);
    }
  }
}

TYPED_TEST(shadow_inserts, can_be_moved) {
  if constexpr (!claims<TypeParam>(&cubby::capability_set::shadow_insert)) {
    GTEST_SKIP() << "this engine claims no shadow inserts";
  } else {
    typename TypeParam::map m(tiny_options());
    auto first = m.shadow_insert(TypeParam::key(1), TypeParam::value(10));
    auto second = std::move(first);
    second.commit();
    EXPECT_TRUE(m.contains(TypeParam::key(1)));
  }
}

template <class Mode>
class shadow_shared : public ::testing::Test {};
TYPED_TEST_SUITE(shadow_shared, shared_modes);

TYPED_TEST(shadow_shared, one_reservation_of_a_key_at_a_time) {
  if constexpr (!claims<TypeParam>(&cubby::capability_set::shadow_insert)) {
    GTEST_SKIP() << "this engine claims no shadow inserts";
  } else {
    constexpr std::uint64_t keys = 6;
    typename TypeParam::map m(tiny_options());
    std::uint64_t guarded[keys] = {}; // plain: the sanitizer sees two holders
    std::atomic<std::uint64_t> held{0};
    run_threads(4, [&](unsigned t) {
      random_source random(130 + t);
      for (std::uint64_t i = 0; i < scaled(3000); ++i) {
        const std::uint64_t n = random.below(keys);
        if (t == 3) {
          m.insert(TypeParam::key(100 + i % 200), TypeParam::value(i));
          if (i % 2 == 1) m.erase(TypeParam::key(100 + i % 197));
          if (i % 500 == 499) m.shrink_to_fit();
          continue;
        }
        auto r = m.shadow_insert(TypeParam::key(n), TypeParam::value(i));
        if (!r) continue;
        ++guarded[n];
        held.fetch_add(1);
        if (random.one_in(2)) continue; // the reservation aborts as it goes
        r.commit();
        ASSERT_TRUE(m.erase(TypeParam::key(n))) << "only this thread knows the key";
      }
    });
    std::uint64_t sum = 0;
    for (const auto g : guarded) sum += g;
    EXPECT_EQ(sum, held.load());
    for (std::uint64_t n = 0; n < keys; ++n) EXPECT_FALSE(m.contains(TypeParam::key(n)));
  }
}

} // namespace
} // namespace cubby_test
