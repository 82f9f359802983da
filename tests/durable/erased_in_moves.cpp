// SPDX-License-Identifier: Apache-2.0
// Guarantee H on an ordinary file, beside a growth that stands still: an erase that a sync has covered does not come back. The growth may
// have copied the entry, and its old slot is emptied only after a sync.
#include <string>

#include <gtest/gtest.h>

#include "durable/files.hpp"
#include "support/fiber_scheduler.hpp"
#include "support/random.hpp"

namespace cubby_test {

/// The upper bits, which choose the first bucket, are 0. So its entries fill it, and two back buckets of each, and chains.
struct one_bucket_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return splitmix(key) >> 8; }
};

} // namespace cubby_test

template <> inline constexpr std::uint64_t cubby::hash_is_stable<cubby_test::one_bucket_hash> = 79;

namespace cubby_test {
namespace {

using bucket_table = cubby::durable_map<std::uint64_t, std::uint64_t, one_bucket_hash>;
constexpr std::uint64_t entries_of_bucket = 120;
constexpr std::size_t doubled = 700; // entries for which the table doubles

/// A table with entries in chains, which a sync has covered.
std::unique_ptr<bucket_table> make_chained(const std::string& path) {
  auto t = must_open<bucket_table>(path, {.capacity = 350});
  for (std::uint64_t k = 1; k <= entries_of_bucket; ++k) t->insert(k, ~k);
  EXPECT_GT(t->stats().chained, 0U);
  EXPECT_TRUE(t->sync());
  return t;
}

TEST(durable_erase, that_a_sync_has_covered_stays_wherever_a_growth_stands_still) {
  std::size_t looked = 0;
  for (std::uint64_t stop = 0;; ++stop) {
    const own_folder folder;
    const std::string path = folder.file("table");
    const auto t = make_chained(path);
    auto first = t->handle(), second = t->handle();
    bytes cut;
    fiber_scheduler turns;
    const auto grower = turns.start([&] { (void)first.reserve(doubled); });
    const auto eraser = turns.start([&] {
      for (std::uint64_t k = 1; k <= entries_of_bucket; ++k) EXPECT_TRUE(second.erase(k)) << k;
      EXPECT_TRUE(t->sync());
      cut = bytes_in(path);
    });
    const bool last = turns.run(grower, stop) != scheduler_words::stopped::before_step;
    const bool alone = turns.ends_alone(eraser);
    ASSERT_TRUE(turns.finish_all()) << "stop " << stop;
    if (alone) { // the eraser has waited for nothing that the growth holds
      ++looked;
      forge_power_cut(cut);
      write_file(path + ".cut", cut);
      EXPECT_EQ(must_open<bucket_table>(path + ".cut")->size(), 0U) << "stop " << stop;
    }
    if (last) break;
  }
  EXPECT_GT(looked, 100U);
}

} // namespace
} // namespace cubby_test
