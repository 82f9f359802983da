// SPDX-License-Identifier: Apache-2.0
// Bounds are kept. A fixed table answers `full` and works on. A hash that sends every key to one bin ends with `crowded`
// and not with endless growth. What fits by promise always fits.
#include <vector>

#include "engines.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

template <class Mode>
class bounded : public ::testing::Test {};
TYPED_TEST_SUITE(bounded, main_modes);

TYPED_TEST(bounded, a_fixed_table_answers_full_and_works_on) {
  table_options o = tiny_options(cubby::growth_policy::fixed);
  o.capacity = 100;
  typename TypeParam::map m(o);
  std::uint64_t n = 0;
  while (n < 100000 && m.try_insert(TypeParam::key(n), TypeParam::value(n)) == cubby::outcome::inserted) ++n;
  ASSERT_EQ(n, 100u) << "the promised capacity";
  EXPECT_EQ(m.try_insert(TypeParam::key(n), TypeParam::value(n)), cubby::outcome::full);
  EXPECT_EQ(m.try_insert(TypeParam::key(0), TypeParam::value(n)), cubby::outcome::exists);
  EXPECT_THROW(m.insert(TypeParam::key(n), TypeParam::value(n)), cubby::table_full);
  EXPECT_THROW(m.insert_or_assign(TypeParam::key(n), TypeParam::value(n)), cubby::table_full);
  EXPECT_EQ(m.size(), n);
  EXPECT_FALSE(m.contains(TypeParam::key(n)));
  EXPECT_TRUE(m.assign(TypeParam::key(0), TypeParam::value(7)));
  EXPECT_FALSE(m.insert_or_assign(TypeParam::key(1), TypeParam::value(8)));
  EXPECT_EQ(m.stats().growths, 0u);
  for (std::uint64_t i = 0; i < n; ++i) ASSERT_TRUE(m.erase(TypeParam::key(i)));
  for (std::uint64_t i = 0; i < n; ++i) {
    ASSERT_EQ(m.try_insert(TypeParam::key(i), TypeParam::value(i)), cubby::outcome::inserted) << "slots come back";
  }
}

TYPED_TEST(bounded, a_fixed_table_holds_its_capacity_at_every_size_and_seed) {
  random_source random(110);
  for (std::size_t capacity = 1; capacity < 3000; capacity = capacity * 5 / 3 + 1) {
    table_options o = tiny_options(cubby::growth_policy::fixed);
    o.capacity = capacity;
    o.seed = random.next();
    typename TypeParam::map m(o);
    for (std::uint64_t n = 0; n < capacity; ++n) {
      ASSERT_EQ(m.try_insert(TypeParam::key(n), TypeParam::value(n)), cubby::outcome::inserted)
          << n << " of " << capacity << " seed " << o.seed;
    }
  }
}

struct constant_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t) const noexcept { return 42; }
};

template <class Engine>
class bounded_engine : public ::testing::Test {};
TYPED_TEST_SUITE(bounded_engine, every_plain_engine);

TYPED_TEST(bounded_engine, keys_that_share_one_hash_are_refused_as_crowded_or_not_at_all) {
  for (const auto growth : growing_policies) {
    cubby::map<std::uint64_t, std::uint64_t, TypeParam, constant_hash> m(tiny_options(growth));
    std::uint64_t n = 0;
    while (n < 100 && m.try_insert(n, n) == cubby::outcome::inserted) ++n;
    for (std::uint64_t i = 0; i < n; ++i) ASSERT_EQ(m.find(i), i);
    EXPECT_FALSE(m.contains(n));
    if (decltype(m)::capabilities.bounded_bins) {
      EXPECT_GE(n, 15u) << "a bin has fifteen slots";
      EXPECT_LT(n, 100u);
      EXPECT_EQ(m.try_insert(n, n), cubby::outcome::crowded);
    } else {
      EXPECT_EQ(n, 100u);
    }
    EXPECT_LT(m.stats().bytes, 64u << 20) << "growth does not help, and stops";
    for (std::uint64_t i = 0; i < n; ++i) ASSERT_TRUE(m.erase(i));
    ASSERT_TRUE(m.insert(n, n)) << "and the bin is usable again";
  }
}

template <class Mode>
class bounded_shared : public ::testing::Test {};
TYPED_TEST_SUITE(bounded_shared, shared_modes);

TYPED_TEST(bounded_shared, threads_that_fill_a_fixed_table_lose_nothing) {
  table_options o = tiny_options(cubby::growth_policy::fixed);
  o.capacity = 500;
  typename TypeParam::map m(o);
  std::vector<std::vector<std::uint64_t>> in(3);
  run_threads(3, [&](unsigned t) {
    for (std::uint64_t n = t; n < 6000; n += 3) {
      if (m.try_insert(TypeParam::key(n), TypeParam::value(n)) == cubby::outcome::inserted) in[t].push_back(n);
    }
  });
  std::size_t total = 0;
  for (const auto& mine : in) {
    total += mine.size();
    for (const auto n : mine) ASSERT_EQ(TypeParam::number(*m.find(TypeParam::key(n))), n);
  }
  EXPECT_EQ(m.size(), total);
  EXPECT_EQ(total, 500u);
}

} // namespace
} // namespace cubby_test
