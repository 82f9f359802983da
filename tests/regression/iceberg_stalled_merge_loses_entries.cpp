// SPDX-License-Identifier: Apache-2.0
// A shrink takes its units once more when a pair was left for want of memory. A thread that had taken a unit before, and had merged
// nothing of it, then merged the pairs of the next growth: lookups missed their entries.
#include "engines.hpp"
#include "support/failing_memory.hpp"
#include "support/fiber_scheduler.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

/// The highest bit chooses one of two front buckets. The first one gets more keys than it has slots.
struct uneven_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept {
    return splitmix(key) >> 1 | (key < 60 ? 0 : std::uint64_t{1} << 63);
  }
};
using map = cubby::map<std::uint64_t, std::uint64_t, cubby::iceberg, uneven_hash>;
constexpr std::uint64_t keys = 100;
constexpr std::size_t doubled = 150; // entries for which two front buckets become four

/// A table of four front buckets whose shrink to two has stopped at the first pair for want of memory.
void stop_in_a_shrink(map& m) {
  ASSERT_TRUE(m.reserve(doubled));
  for (std::uint64_t k = 0; k < keys; ++k) ASSERT_TRUE(m.insert(k, ~k));
  bool done = true;
  {
    const memory_failure failure(1);
    done = m.shrink_to_fit();
  }
  ASSERT_FALSE(done) << "no bucket was too full to be merged into another one";
}
void expect_all(map& m, std::uint64_t stop) {
  std::uint64_t met = 0;
  m.visit_all([&](std::uint64_t, std::uint64_t) { ++met; });
  ASSERT_EQ(met, keys) << "stop " << stop;
  for (std::uint64_t k = 0; k < keys; ++k) ASSERT_EQ(m.find(k), ~k) << "stop " << stop;
}

TEST(iceberg_stalled_merge, loses_no_entry_wherever_it_stands_still) {
  for (std::uint64_t stop = 0;; ++stop) {
    table_options o = tiny_options();
    o.capacity = 100;
    map m(o);
    ASSERT_NO_FATAL_FAILURE(stop_in_a_shrink(m));
    auto first = m.handle(), second = m.handle();
    fiber_scheduler turns;
    const auto stalled = turns.start([&] { (void)first.shrink_to_fit(); });
    const auto other = turns.start([&] {
      EXPECT_TRUE(second.shrink_to_fit());
      EXPECT_TRUE(second.reserve(doubled));
    });
    const bool last = turns.run(stalled, stop) != scheduler_words::stopped::before_step;
    auto how =
        scheduler_words::stopped::before_step; // it waits once for those who have taken units, and takes them again
    for (unsigned slice = 0; slice < 20 && how != scheduler_words::stopped::finished; ++slice)
      how = turns.run(other, 3000);
    ASSERT_TRUE(turns.finish_all()) << "stop " << stop;
    ASSERT_NO_FATAL_FAILURE(expect_all(m, stop));
    if (last) break;
  }
}

} // namespace
} // namespace cubby_test
