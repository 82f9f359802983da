// SPDX-License-Identifier: Apache-2.0
// Long churn: a table whose live set stays the same takes a file of bounded size.
#include <gtest/gtest.h>

#include "durable/files.hpp"
#include "durable/kinds.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

template <class Kind> class durable_churn : public testing::Test {};
TYPED_TEST_SUITE(durable_churn, main_kinds);

/// A live set that stays the same takes a file that stays the same: of erased and replaced entries, of moves, and of many openings.
TYPED_TEST(durable_churn, of_a_constant_live_set_takes_no_more_space) {
  const own_folder folder;
  const std::string path = folder.file("table");
  using K = typename TypeParam::key_type;
  using V = typename TypeParam::mapped_type;
  const std::uint64_t rounds = at_least(24);
  std::size_t bytes = 0;
  for (std::uint64_t opening = 0; opening < 3; ++opening) {
    const auto t = must_open<typename TypeParam::table>(path);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const std::uint64_t first = (opening * rounds + round) * 500;
      for (std::uint64_t n = first; n < first + 2000; ++n) t->insert_or_assign(key_of<K>(n), value_of<V>(n % 100));
      for (std::uint64_t n = first; n < first + 500; ++n) EXPECT_TRUE(t->erase(key_of<K>(n)));
      EXPECT_TRUE(t->sync());
      if (round % 8 == 7) (void)t->shrink_to_fit();
      if (opening == 0 && round == rounds / 2) bytes = t->stats().file_bytes;
    }
    EXPECT_EQ(t->size(), 1500U);
    EXPECT_LE(t->stats().file_bytes, bytes * 3 / 2) << "opening " << opening;
  }
}

/// Also with a log, whose syncs do not give blocks back: after a refusal the next two syncs are checkpoints, which do.
TEST(durable_churn_with_a_log, gives_space_back_after_a_refusal) {
  const own_folder folder;
  using table = cubby::durable_map<std::uint64_t, std::string>;
  const auto t = must_open<table>(folder.file("table"), {.log_bytes = 64 << 10, .most_bytes = 4 << 20});
  if (t->stats().log_bytes == 0) GTEST_SKIP() << "changes are durable without a log on this file system";
  const std::string value(200, 'v');
  const auto fill = [&](std::uint64_t n) {
    while (t->try_insert(n, value) == cubby::outcome::inserted) ++n;
    return n;
  };
  const std::uint64_t count = fill(0);
  ASSERT_GT(count, 2000U);
  for (std::uint64_t n = 0; n < count; n += 2) ASSERT_TRUE(t->erase(n));
  (void)t->shrink_to_fit(); // disposes of what no guard protects
  // The erases may have filled the log; the checkpoint of a full log gives blocks back, too. Then the refusal comes later.
  const std::uint64_t more = fill(count);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(t->sync());
  for (std::uint64_t n = 0; n < count / 2 && n / 2 + (more - count) < count / 4; n += 2)
    ASSERT_EQ(t->try_insert(n, value), cubby::outcome::inserted) << n << " of " << count << ", refused at " << more;
}

} // namespace
} // namespace cubby_test
