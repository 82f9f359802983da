// SPDX-License-Identifier: Apache-2.0
// A table that grows in the background stays fast where inserts are faster than its thread. If the larger table is full before all entries
// have moved, the next growth cannot begin, and each insert makes a chain longer. Inserts give the thread time by then. Once they did
// not, and 200,000 inserts by two threads on two processors took up to a minute. They do not depend on that thread, either.
#include "iceberg/table_of.hpp"
#include "support/hooks.hpp"

namespace cubby_test {
namespace {

TEST(iceberg_inserts, that_outrun_the_worker_give_it_time_and_go_on) {
  auto o = tiny_options(cubby::growth_policy::background);
  o.chunk_bins = 1024; // the worker takes all buckets
  iceberg_words m(o);
  const void* const cursor = &table_of(m).work.cursor;
  parking spot;
  bool taken = false;
  park_before worker(spot, [&](step kind, const void* address) { // behind its first units, before it locks a bucket
    if (kind != step::rmw8) return false;
    return std::exchange(taken, taken || address == cursor);
  });
  watcher::of_strangers() = &worker;
  std::atomic<std::uint64_t> turns{0};
  std::uint64_t key = 0;
  {
    const quiet unseen;
    while (!m.stats().migrating) ASSERT_TRUE(m.insert(key++, 1));
    ASSERT_TRUE(spot.wait_until_parked());
  }
  const std::size_t full = m.capacity() / 10 * 9; // it grows at 91 %
  {
    const wait_counter seen(turns);
    while (m.size() < full) ASSERT_TRUE(m.insert(key++, 1));
    EXPECT_EQ(turns, 0u) << "waits although there is space";
    while (m.size() < 2 * full) ASSERT_TRUE(m.insert(key++, 1));
  }
  EXPECT_GT(turns, 0u) << "it has no time to end the growth";
  spot.release();
  ASSERT_TRUE(m.reserve(0)); // ends the growth
  watcher::of_strangers() = nullptr;
  for (std::uint64_t k = 0; k < key; ++k) ASSERT_TRUE(m.contains(k)) << k;
}

} // namespace
} // namespace cubby_test
