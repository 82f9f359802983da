// SPDX-License-Identifier: Apache-2.0
// A write had locked the upper bucket of a pair that a shrink had merged already, and had seen the root of that shrink. The shrink ended,
// a growth made the pair ready again in another segment, and the write took that for its own bucket: its entry was lost.
#include "iceberg/upper_key.hpp"
#include "support/fiber_scheduler.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t old_keys = 3;

/// The write stands still before its step `first`, and again `more` steps later. Between them the other thread does `steps` steps, and
/// all of its calls before the write ends. False: the write has ended before.
bool stop_twice(std::uint64_t first, std::uint64_t steps, std::uint64_t more) {
  table_options o = tiny_options();
  o.capacity = 50;
  map_with_an_upper_key m(o);
  EXPECT_TRUE(m.reserve(a_doubling));
  for (std::uint64_t k = 0; k < old_keys; ++k) EXPECT_TRUE(m.insert(k, ~k));
  auto one = m.handle(), two = m.handle();
  fiber_scheduler turns;
  const auto write = turns.start([&] { EXPECT_TRUE(one.insert(upper_key, ~upper_key)); });
  const auto other = turns.start([&] {
    EXPECT_TRUE(two.shrink_to_fit());
    EXPECT_TRUE(two.reserve(a_doubling));
  });
  while (m.stats().shrinks == 0 && turns.run(other, 1) != scheduler_words::stopped::finished) {
  }
  const bool stands = turns.run(write, first) == scheduler_words::stopped::before_step;
  auto how = turns.run(other, steps);
  (void)turns.run(write, more);
  for (unsigned slice = 0; slice < 20 && how != scheduler_words::stopped::finished; ++slice)
    how = turns.run(other, 3000);
  EXPECT_TRUE(turns.finish_all());
  EXPECT_EQ(m.size(), old_keys + 1);
  EXPECT_EQ(m.find(upper_key), ~upper_key) << "stops " << first << ", " << steps << ", " << more;
  for (std::uint64_t k = 0; k < old_keys; ++k) EXPECT_EQ(m.find(k), ~k);
  return stands;
}

TEST(iceberg_bucket_of_a_later_growth, is_not_the_one_that_a_write_has_locked) {

  for (std::uint64_t first = 0; first < 30 && !testing::Test::HasFailure(); ++first) {
    bool stands = true;
    for (std::uint64_t steps = 1; steps < 150; steps += sparse_stride(4))
      for (std::uint64_t more = 1; more < 6; ++more) stands = stop_twice(first, steps, more) && stands;
    if (!stands) break;
  }
}

} // namespace
} // namespace cubby_test
