// SPDX-License-Identifier: Apache-2.0
// A sender that meets the full flag of a partition looks for its key there. Its writer may replace the array meanwhile, and
// must not free the one that the sender is in.
#include <cubby/delegated_map.hpp>

#include <gtest/gtest.h>

#include "support/scheduler.hpp"

namespace cubby_test {
namespace {

using full_map = cubby::delegated_map<std::uint64_t, std::uint64_t>;

/// Erases one key and inserts another until dead slots fill the array and it is rebuilt. Nothing is mapped after that, so that
/// a freed one would end the process.
void churn(full_map& m, std::uint64_t first) {
  auto h = m.handle();
  const std::uint64_t before = m.stats().rebuilds;
  for (std::uint64_t k = first; m.stats().rebuilds == before; ++k) {
    ASSERT_LT(k, first + 1000) << "nothing is replaced";
    h.erase(k);
    ASSERT_TRUE(h.flush());
    ASSERT_EQ(h.insert_or_assign(k + 1, k), cubby::outcome::done);
    ASSERT_TRUE(h.flush());
  }
}

TEST(regression_partitioned_full_partition, is_read_in_a_pin) {
  for (std::uint64_t i = 0;; ++i) {
    full_map m(cubby::partitioned::options{{.capacity = 20, .growth = cubby::growth_policy::fixed}, {.partitions = 1}});
    auto h = m.handle();
    std::uint64_t n = 10;
    while (h.insert_or_assign(n, n) == cubby::outcome::done) {
      ASSERT_TRUE(h.flush());
      ASSERT_LT(++n, 1000u) << "a fixed table is full in the end";
    }
    scheduler turns;
    cubby::outcome how{};
    const auto sender = turns.start([&] { how = h.insert_or_assign(10, 1); });
    const bool last = turns.run(sender, i) == scheduler::stopped::finished;
    churn(m, n - 1);
    ASSERT_TRUE(turns.finish_all());
    ASSERT_EQ(how, cubby::outcome::done) << "the key is there, stopped at " << i;
    ASSERT_TRUE(h.flush());
    ASSERT_EQ(m.find(10), 1u);
    if (last) return;
  }
}

} // namespace
} // namespace cubby_test
