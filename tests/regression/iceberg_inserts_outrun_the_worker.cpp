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
  parking spot;
  std::atomic<const void*> cursor{nullptr};
  bool taken = false;
  // behind its first units, before it locks a bucket. Made before the worker, which may look for it at once.
  park_before worker(spot, [&](step kind, const void* address) {
    if (kind != step::rmw8) return false;
    return std::exchange(taken, taken || address == cursor.load());
  });
  watcher::of_strangers() = &worker;
  iceberg_words m(o);
  cursor = &table_of(m).work.cursor;
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

/// One insert does not move all that such a thread has left: it moves a share, and the inserts after it move the rest.
TEST(iceberg_inserts, that_outrun_the_worker_move_a_share_each) {
  constexpr std::uint64_t pairs = 512;
  cubby::iceberg::options o;
  o.capacity = pairs * 64; // entries in as many buckets, of which each becomes a pair
  o.growth = cubby::growth_policy::background;
  parking spot;
  std::atomic<const void*> cursor{nullptr};
  park_before worker(spot,
                     [&](step kind, const void* address) { return kind == step::rmw8 && address == cursor.load(); });
  watcher::of_strangers() = &worker;
  iceberg_words m(o);
  const auto& work = table_of(m).work;
  cursor = &work.cursor;
  const auto is_moving = [&] { return cubby::detail::engines::iceberg::first_root(table_of(m)).moving(); };
  std::uint64_t key = 0;
  {
    const quiet unseen;
    while (!is_moving()) ASSERT_TRUE(m.insert(key++, 1));
    ASSERT_TRUE(spot.wait_until_parked());
    std::uint64_t most = 0;
    std::uint64_t before = work.done.load(cubby::detail::sync::relaxed);
    while (is_moving()) {
      ASSERT_TRUE(m.insert(key++, 1));
      const std::uint64_t now = work.done.load(cubby::detail::sync::relaxed);
      if (now > before && now - before > most) most = now - before;
      before = now;
      ASSERT_LT(key, pairs * 64 * 4) << "the growth does not end without that thread";
    }
    EXPECT_GT(most, 0u);
    EXPECT_LT(most, 4 * cubby::detail::engines::iceberg::late_pairs);
  }
  spot.release();
  watcher::of_strangers() = nullptr;
  for (std::uint64_t k = 0; k < key; ++k) ASSERT_TRUE(m.contains(k)) << k;
}

} // namespace
} // namespace cubby_test
