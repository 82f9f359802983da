// SPDX-License-Identifier: Apache-2.0
// Iceberg's sizes. A `fixed` table answers `full` at 95 and at 96.4 per cent of its slots, and not before, also under churn. An
// erase makes space at once. A shrink, asked for or automatic, gives segments back and keeps all entries.
#include <thread>
#include <vector>

#include "engines.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

cubby::iceberg::options bounded_to(std::size_t capacity) {
  cubby::iceberg::options o;
  o.capacity = capacity;
  o.growth = cubby::growth_policy::fixed;
  return o;
}

template <class Mode>
class iceberg_bounds : public ::testing::Test {};
using bounded_modes = ::testing::Types<word_mode<cubby::iceberg>, text_mode<cubby::iceberg>,
                                       slot_text_mode<cubby::iceberg>, tuple_mode<cubby::iceberg>>;
TYPED_TEST_SUITE(iceberg_bounds, bounded_modes);

/// Capacities at which a full table has few free slots. Tables are made for a load of 96.5 per cent.
struct load_case {
  std::size_t capacity;
  double load;
};
constexpr load_case loads[] = {{61, 0.95}, {486, 0.964}, {972, 0.964}, {4863, 0.964}};
/// The first one is one front bucket and one back bucket, which has fewer slots if they are wide.
template <class Mode> std::vector<load_case> loads_of() {
  std::vector<load_case> all(std::begin(loads), std::end(loads));
  if (typename Mode::map(bounded_to(30)).capacity() < 64) all.front() = {34, 0.94};
  return all;
}

TYPED_TEST(iceberg_bounds, are_met_exactly_by_tables_that_are_nearly_full) {
  for (const auto& [capacity, load] : loads_of<TypeParam>()) {
    typename TypeParam::map m(bounded_to(capacity));
    ASSERT_GE(static_cast<double>(capacity) / static_cast<double>(m.capacity()), load) << m.capacity();
    for (std::uint64_t n = 0; n < capacity; ++n)
      ASSERT_EQ(m.try_insert(TypeParam::key(n), TypeParam::value(n)), cubby::outcome::inserted) << n;
    for (std::uint64_t n = capacity; n < capacity + 20; ++n)
      ASSERT_EQ(m.try_insert(TypeParam::key(n), TypeParam::value(n)), cubby::outcome::full) << n;
    EXPECT_EQ(m.try_insert(TypeParam::key(3), TypeParam::value(1)), cubby::outcome::exists);
    EXPECT_EQ(m.size(), capacity);
    for (std::uint64_t n = 0; n < capacity; ++n) ASSERT_EQ(TypeParam::number(*m.find(TypeParam::key(n))), n);
    for (std::uint64_t n = 0; n < capacity; ++n) { // each erase makes a place at once
      ASSERT_TRUE(m.erase(TypeParam::key(n)));
      const std::uint64_t next = capacity + n;
      ASSERT_EQ(m.try_insert(TypeParam::key(next), TypeParam::value(next)), cubby::outcome::inserted) << n;
      ASSERT_EQ(m.try_insert(TypeParam::key(n), TypeParam::value(n)), cubby::outcome::full) << n;
    }
    EXPECT_EQ(m.stats().growths, 0u);
  }
}

/// Two threads take and give places all the time. Each owns half of the keys, so it knows what must be there.
TYPED_TEST(iceberg_bounds, hold_exactly_under_churn_by_two_threads) {
  for (const auto& [capacity, load] : loads_of<TypeParam>()) {
    typename TypeParam::map m(bounded_to(capacity));
    std::vector<std::size_t> held(2, 0);
    run_threads(2, [&](unsigned t) {
      random_source random(2500 + t);
      std::vector<bool> in(capacity, false);
      for (std::uint64_t i = 0; i < scaled(4000); ++i) {
        const std::uint64_t n = random.below(capacity);
        const auto k = TypeParam::key(2 * n + t);
        if (in[n] && random.one_in(2)) {
          ASSERT_TRUE(m.erase(k));
          in[n] = false;
        } else {
          const auto how = m.try_insert(k, TypeParam::value(n));
          ASSERT_TRUE(how == (in[n] ? cubby::outcome::exists : cubby::outcome::inserted) ||
                      (!in[n] && how == cubby::outcome::full))
              << static_cast<int>(how);
          in[n] = in[n] || how == cubby::outcome::inserted;
        }
      }
      for (std::uint64_t n = 0; n < capacity; ++n) {
        ASSERT_EQ(m.contains(TypeParam::key(2 * n + t)), in[n]) << n;
        held[t] += in[n] ? 1 : 0;
      }
    });
    ASSERT_EQ(m.size(), held[0] + held[1]);
    ASSERT_LE(m.size(), capacity);
    const std::size_t free = capacity - m.size();
    for (std::uint64_t n = 0; n < free; ++n) { // every place is there still, and no more
      const std::uint64_t k = 2 * capacity + n;
      ASSERT_EQ(m.try_insert(TypeParam::key(k), TypeParam::value(k)), cubby::outcome::inserted) << n;
    }
    ASSERT_EQ(m.try_insert(TypeParam::key(4 * capacity), TypeParam::value(0)), cubby::outcome::full);
    EXPECT_EQ(m.size(), capacity);
  }
}

TYPED_TEST(iceberg_bounds, shrink_when_asked_and_keep_all_entries) {
  for (const auto growth : growing_policies) {
    typename TypeParam::map m(tiny_options(growth));
    const std::size_t smallest = m.capacity();
    for (std::uint64_t n = 0; n < 2000; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    ASSERT_TRUE(m.reserve(0));
    const std::size_t largest = m.capacity();
    ASSERT_GE(largest, 32 * smallest);
    for (std::uint64_t n = 0; n < 2000; ++n) {
      if (n % 100 != 0) {
        ASSERT_TRUE(m.erase(TypeParam::key(n)));
      }
    }
    const std::size_t bytes = m.stats().bytes;
    ASSERT_TRUE(m.shrink_to_fit());
    // Gives back what the first call had to leave to readers. The thread of a `background` table is one, too, until it sleeps.
    const unsigned most_calls = growth == cubby::growth_policy::background ? 1000 : 1;
    for (unsigned calls = 0; calls == 0 || (m.stats().retired != 0 && calls < most_calls); ++calls) {
      ASSERT_TRUE(m.shrink_to_fit());
      std::this_thread::yield();
    }
    EXPECT_EQ(m.capacity(), smallest);
    EXPECT_LT(m.stats().bytes, bytes / 8);
    EXPECT_EQ(m.stats().retired, 0u);
    std::vector<unsigned> met(2000, 0);
    m.visit_all([&](const auto& k, const auto&) { ++met[TypeParam::number_of_key(k)]; });
    for (std::uint64_t n = 0; n < 2000; ++n) {
      ASSERT_EQ(met[n], n % 100 == 0 ? 1u : 0u) << n;
      ASSERT_EQ(m.contains(TypeParam::key(n)), n % 100 == 0) << n;
    }
  }
}

TYPED_TEST(iceberg_bounds, shrink_by_themselves_and_keep_all_entries) {
  for (const auto growth : growing_policies) {
    table_options o = tiny_options(growth);
    o.shrink = cubby::shrink_policy::automatic;
    typename TypeParam::map m(o);
    for (std::uint64_t n = 0; n < 3000; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    ASSERT_TRUE(m.reserve(0));
    const std::size_t largest = m.capacity();
    for (std::uint64_t n = 10; n < 3000; ++n) ASSERT_TRUE(m.erase(TypeParam::key(n))) << n;
    // Further writes carry the shrinks on that an erase has begun, or wake the table's own thread.
    EXPECT_TRUE(eventually([&] {
      for (std::uint64_t n = 5000; n < 5100; ++n) {
        EXPECT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
        EXPECT_TRUE(m.erase(TypeParam::key(n)));
      }
      return m.capacity() <= largest / 8;
    }));
    EXPECT_GE(m.stats().shrinks, 3u);
    EXPECT_EQ(m.size(), 10u);
    for (std::uint64_t n = 0; n < 10; ++n) ASSERT_EQ(TypeParam::number(*m.find(TypeParam::key(n))), n);
  }
}

} // namespace
} // namespace cubby_test
