// SPDX-License-Identifier: Apache-2.0
// The growing counter: one word at first, then stripes. The sum is exact whenever no thread writes: before the stripes, after them,
// while another thread stands still as it makes them, and without memory for them.
#include <cubby/detail/core/counter.hpp>

#include <gtest/gtest.h>

#include "support/failing_memory.hpp"
#include "support/scheduler.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

using cubby::detail::own_cells;
using cubby::detail::sync::shared;
constexpr unsigned changes_before_stripes = 64;

struct counter {
  cubby::detail::growing_counter<shared> stripes;
  cubby::detail::first_count<shared> first;
  void add(std::size_t thread_record, std::int64_t amount) {
    if (!stripes.add_alone(cubby::detail::cell_in_stripes(thread_record), amount)) stripes.add_shared(first, amount);
  }
  [[nodiscard]] std::int64_t total() const { return stripes.total(first); }
};

TEST(growing_counter, takes_its_stripes_once_and_after_some_changes) {
  const auto before = living_blocks();
  {
    counter c;
    for (unsigned n = 1; n < changes_before_stripes; ++n) {
      c.add(n, 1);
      ASSERT_EQ(c.total(), n);
    }
    EXPECT_EQ(living_blocks(), before);
    for (unsigned n = changes_before_stripes; n < 4 * changes_before_stripes; ++n) {
      c.add(n, 1);
      ASSERT_EQ(c.total(), n);
      ASSERT_EQ(living_blocks(), before + 1);
    }
  }
  EXPECT_EQ(living_blocks(), before);
}

TEST(growing_counter, counts_changes_and_not_entries) {
  const auto before = living_blocks();
  counter c;
  for (unsigned n = 0; n < changes_before_stripes; ++n) {
    c.add(n, 1);
    c.add(n + 1, -1);
    ASSERT_EQ(c.total(), 0);
  }
  EXPECT_EQ(living_blocks(), before + 1);
}

TEST(growing_counter, may_be_below_zero_for_a_moment) {
  counter c;
  for (int n = 1; n < 3 * static_cast<int>(changes_before_stripes); ++n) {
    c.add(0, -n);
    ASSERT_EQ(c.total(), -n);
    c.add(1, n);
    ASSERT_EQ(c.total(), 0);
  }
}

TEST(growing_counter, has_a_cell_for_each_place) {
  counter c;
  c.stripes.add_stripes();
  std::int64_t sum = 0;
  for (std::size_t thread_record = 0; thread_record < own_cells; ++thread_record) {
    EXPECT_TRUE(c.stripes.add_alone(cubby::detail::cell_in_stripes(thread_record), 1)) << thread_record;
    ++sum;
  }
  for (const std::size_t later : {own_cells, own_cells + 1, std::size_t{1} << 20}) {
    EXPECT_FALSE(c.stripes.add_alone(cubby::detail::cell_in_stripes(later), 1)) << later;
    c.add(later, 3);
    sum += 3;
  }
  EXPECT_EQ(c.total(), sum);
}

TEST(growing_counter, is_exact_without_memory_and_takes_its_stripes_later) {
  const auto before = living_blocks();
  counter c;
  for (unsigned n = 1; n <= 20 * changes_before_stripes; ++n) {
    const memory_failure none(1);
    c.add(n, 1);
    ASSERT_EQ(c.total(), n);
  }
  EXPECT_EQ(living_blocks(), before);
  for (unsigned n = 0; n < changes_before_stripes; ++n) c.add(n, -1);
  EXPECT_EQ(living_blocks(), before + 1);
  EXPECT_EQ(c.total(), 19 * changes_before_stripes);
}

/// One thread makes the stripes and stands still after each of its steps. The other changes and reads, and makes them, too.
TEST(growing_counter, is_exact_while_a_thread_that_makes_the_stripes_stands_still) {
  const auto before = living_blocks();
  for (std::uint64_t i = 0;; ++i) {
    counter c;
    for (unsigned n = 1; n < changes_before_stripes; ++n) c.add(0, 1);
    bool last = false;
    {
      scheduler turns;
      const auto maker = turns.start([&] { c.add(0, 1); });
      last = turns.run(maker, i) == scheduler::stopped::finished;
      const std::int64_t seen = c.total();
      for (std::int64_t n = 1; n <= 2 * std::int64_t{changes_before_stripes}; ++n) {
        c.add(1, 1);
        ASSERT_EQ(c.total(), seen + n) << "stopped at " << i;
      }
      ASSERT_TRUE(turns.finish_all());
    }
    EXPECT_EQ(c.total(), 3 * changes_before_stripes) << "stopped at " << i;
    EXPECT_EQ(living_blocks(), before + 1) << "stopped at " << i;
    if (last) return;
  }
}

TEST(growing_counter, loses_nothing_that_threads_add_at_once) {
  constexpr unsigned writers = 4;
  constexpr std::int64_t each = 200;
  for (unsigned round = 0; round < 50; ++round) {
    counter c;
    run_threads(writers, [&](unsigned me) {
      for (std::int64_t n = 0; n < each; ++n) c.add(me == 0 ? own_cells + round : me, me == 1 ? -1 : 1);
    });
    ASSERT_EQ(c.total(), each * (writers - 2));
  }
}

} // namespace
} // namespace cubby_test
