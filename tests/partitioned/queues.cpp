// SPDX-License-Identifier: Apache-2.0
// Guarantee P of a partitioned table. Queues that are full hold up no thread for good, whether a thread serves them or not.
// Producers and owners are in any proportion, and threads come and go.
#include "partitioned/ways.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test::partitioned_tests {
namespace {

/// More than all queues of a handle hold.
const std::uint64_t many = at_least(4 * cubby::detail::channel<>::capacity);

/// A key of the partition, the `n`th.
std::uint64_t key_in(const map& m, std::size_t partition, std::uint64_t n) {
  for (std::uint64_t k = splitmix(n);; ++k)
    if (m.partition_of(k) == partition) return k;
}

/// Each owns a half and sends to the other's half only, faster than any thread serves.
TEST(partitioned_queues, that_are_full_in_both_directions_do_not_block) {
  cubby::partitioned::options o;
  o.partitions = 2;
  map m(o);
  const std::uint64_t keys[2] = {key_in(m, 0, 1), key_in(m, 1, 2)};
  run_threads(2, [&](unsigned t) {
    auto h = m.handle();
    h.own(t);
    for (std::uint64_t i = 0; i < many; ++i) ASSERT_EQ(h.insert_or_add(keys[1 - t], 1), outcome::done);
    ASSERT_TRUE(h.flush());
  });
  EXPECT_EQ(m.find(keys[0]), many);
  EXPECT_EQ(m.find(keys[1]), many);
}

/// Handles that have said that they serve, and do not: their threads do something else, or wait for us.
TEST(partitioned_queues, of_owners_that_never_come_are_served_by_who_waits) {
  cubby::partitioned::options o;
  o.partitions = 3;
  map m(o);
  auto idle = m.handle();
  for (std::size_t i = 0; i < m.partitions(); ++i) idle.own(i);
  auto h = m.handle();
  for (std::uint64_t i = 0; i < many; ++i) ASSERT_EQ(h.insert_or_add(i % 7, 1), outcome::done);
  ASSERT_TRUE(h.flush());
  std::uint64_t sum = 0;
  m.visit_all([&](std::uint64_t, std::uint64_t v) { sum += v; });
  EXPECT_EQ(sum, many);
  EXPECT_EQ(idle.serve(), 0u);
}

TEST(partitioned_queues, carry_everything_from_any_number_of_producers_to_any_number_of_owners) {
  for (const unsigned producers : {1u, 3u, 6u}) {
    for (const unsigned owners : {1u, 2u, 5u}) {
      cubby::partitioned::options o;
      o.partitions = owners;
      map m(o);
      std::atomic<unsigned> sending{producers};
      run_threads(producers + owners, [&](unsigned t) {
        auto h = m.handle();
        if (t >= producers) {
          h.own(t - producers);
          while (sending.load() != 0 || h.serve() != 0) {
            if (h.serve() == 0) std::this_thread::yield();
          }
          return;
        }
        for (std::uint64_t i = 0; i < many; ++i) h.insert_or_add(splitmix(i) % 1000, 1);
        EXPECT_TRUE(h.flush());
        --sending;
      });
      std::uint64_t sum = 0;
      m.visit_all([&](std::uint64_t, std::uint64_t v) { sum += v; });
      ASSERT_EQ(sum, producers * many) << producers << " producers, " << owners << " owners";
    }
  }
}

class partitioned_threads : public ::testing::TestWithParam<way> {};
INSTANTIATE_TEST_SUITE_P(partitioned, partitioned_threads, ::testing::ValuesIn(every_way),
                         [](const auto& one) { return one.param.name; });

/// Handles end without a flush of the caller's, and their channels are used again by handles of other threads.
TEST_P(partitioned_threads, may_come_and_go) {
  map m(tiny(GetParam()));
  const std::uint64_t rounds = scaled(15);
  constexpr std::uint64_t each = 700;
  run_threads(4, [&](unsigned t) {
    random_source random(6500 + t);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      std::thread([&] {
        auto h = handle_of(m, GetParam(), t, 4);
        auto moved_on = std::move(h);
        for (std::uint64_t i = 0; i < each; ++i) moved_on.insert_or_add(random.below(50), 1);
      }).join();
    }
  });
  std::uint64_t sum = 0;
  m.visit_all([&](std::uint64_t, std::uint64_t v) { sum += v; });
  EXPECT_EQ(sum, 4 * rounds * each);
}

/// The table's threads carry out whole sections that no thread flushes, also after they have slept. A thread that falls asleep
/// at the very moment may miss one notice: the next section has another one.
TEST(partitioned_owners, carry_out_what_nobody_flushes) {
  constexpr std::uint64_t section = cubby::detail::channel<>::section_size;
  cubby::partitioned::options o;
  o.partitions = 1;
  o.owners = 1;
  map m(o);
  auto h = m.handle();
  std::uint64_t sent = 0;
  for (unsigned round = 0; round < 3; ++round) {
    bool done = false;
    // Not so many that the queue is full, and the sender at it itself.
    for (unsigned sections = 0; sections < 7 && !done; ++sections) {
      for (std::uint64_t i = 0; i < section; ++i, ++sent) h.insert_or_add(1, 1);
      done = eventually([&] { return m.find(1) == sent; }, std::chrono::seconds(8));
    }
    ASSERT_TRUE(done) << "no thread serves";
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

} // namespace
} // namespace cubby_test::partitioned_tests
