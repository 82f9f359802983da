// SPDX-License-Identifier: Apache-2.0
// A batch with one key several times, while a shrink merges the bucket of the key. The first request began again behind the merge and had the
// new value; the next one still had the line of the merged bucket, and answered with the older value (guarantee D). So did
// the next group of a longer batch, whose lines were asked for before the shrink.
#include <algorithm>
#include <array>

#include "iceberg/upper_key.hpp"
#include "support/fiber_scheduler.hpp"

namespace cubby_test {
namespace {
namespace batch_of_one_key {

constexpr std::uint64_t keys = 3;

/// Whether a shrink has begun when the batch asks for its first lines.
enum class asked : std::uint8_t { at_rest, while_it_shrinks };
/// The batch stands still before its step `stop`. Then the shrink ends, and the value changes. False: the batch has ended before. It has
/// more requests than two groups have.
bool answers_in_order(asked when, std::uint64_t stop) {
  table_options o = tiny_options();
  o.capacity = 50;
  map_with_an_upper_key m(o);
  EXPECT_TRUE(m.reserve(a_doubling));
  for (std::uint64_t k = 0; k < keys; ++k) EXPECT_TRUE(m.insert(k, k));
  EXPECT_TRUE(m.insert(upper_key, 5));
  auto one = m.handle(), two = m.handle();
  std::array<std::uint64_t, 70> all{}, values{};
  all.fill(upper_key);
  std::array<bool, 70> found{};
  fiber_scheduler turns;
  const auto batch = turns.start([&] { EXPECT_EQ(one.find_batch(all, values, found), all.size()); });
  const auto other = turns.start([&] {
    EXPECT_TRUE(two.shrink_to_fit());
    EXPECT_TRUE(two.assign(upper_key, 6));
  });
  while (when == asked::while_it_shrinks && m.stats().shrinks == 0 &&
         turns.run(other, 1) != scheduler_words::stopped::finished) {
  }
  const bool stands = turns.run(batch, stop) == scheduler_words::stopped::before_step;
  for (unsigned slice = 0; slice < 20 && turns.run(other, 3000) != scheduler_words::stopped::finished; ++slice) {
  }
  EXPECT_TRUE(turns.finish_all());
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end())) << "before step " << stop;
  return stands;
}

class iceberg_batch_of_one_key : public ::testing::TestWithParam<asked> {};
TEST_P(iceberg_batch_of_one_key, beside_a_shrink_has_no_older_answer_behind_a_newer_one) {
  std::uint64_t stop = 0;
  while (answers_in_order(GetParam(), stop)) ++stop;
  EXPECT_GT(stop, 70U) << "the batch has ended before it looks anything up";
}
INSTANTIATE_TEST_SUITE_P(asked, iceberg_batch_of_one_key, ::testing::Values(asked::at_rest, asked::while_it_shrinks));

} // namespace batch_of_one_key
} // namespace
} // namespace cubby_test
