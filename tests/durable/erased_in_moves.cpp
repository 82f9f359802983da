// SPDX-License-Identifier: Apache-2.0
// Guarantee H on an ordinary file, beside a growth or a shrink that stands still: an erase that a sync has covered does not come back. The
// move may have copied the entry, and its old slot is emptied only after a sync.
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "durable/one_bucket.hpp"
#include "support/fiber_scheduler.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

constexpr std::size_t doubled = 700; // entries for which the table doubles

/// A table with entries in chains, which a sync has covered.
std::unique_ptr<bucket_table> make_chained(const std::string& path) {
  auto t = must_open<bucket_table>(path, {.capacity = 350});
  for (std::uint64_t k = 1; k <= entries_of_bucket; ++k) t->insert(k, ~k);
  EXPECT_GT(t->stats().chained, 0U);
  EXPECT_TRUE(t->sync());
  return t;
}

/// Lets a thread run for so many steps, and through what it waits for: the table's own thread may be in a sync. True: it has ended.
bool run_steps(fiber_scheduler& turns, std::size_t number, std::uint64_t steps) {
  std::uint64_t done = 0;
  for (unsigned tries = 0; tries < 1000; ++tries) {
    const auto how = turns.run_until(number, [&](step, const void*) { return done++ == steps; });
    if (how != scheduler_words::stopped::waiting) return how == scheduler_words::stopped::finished;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return false;
}

/// All entries are erased beside a move that stands still at each of its steps in turn, or at each `stride`th one.
void erase_beside(const std::function<std::unique_ptr<bucket_table>(const std::string&)>& make,
                  const std::function<bool(bucket_table::handle_type&)>& move, std::uint64_t stride) {
  std::size_t looked = 0;
  for (std::uint64_t stop = 0;; stop += stride) {
    const own_folder folder;
    const std::string path = folder.file("table");
    const auto t = make(path);
    auto first = t->handle(), second = t->handle(), reader = t->handle();
    const auto stay = reader.guard(); // what a shrink leaves stays
    bytes cut;
    fiber_scheduler turns;
    const auto mover = turns.start([&] { EXPECT_TRUE(move(first)); });
    const auto eraser = turns.start([&] {
      for (std::uint64_t k = 1; k <= entries_of_bucket; ++k) EXPECT_TRUE(second.erase(k)) << k;
      EXPECT_TRUE(t->sync());
      cut = bytes_in(path);
    });
    const bool last = run_steps(turns, mover, stop);
    const bool alone = turns.ends_alone(eraser);
    ASSERT_TRUE(turns.finish_all()) << "stop " << stop;
    if (alone) { // the eraser has waited for nothing that the move holds
      ++looked;
      forge_power_cut(cut);
      write_file(path + ".cut", cut);
      ASSERT_EQ(must_open<bucket_table>(path + ".cut")->size(), 0U) << "stop " << stop;
    }
    if (last) break;
  }
  EXPECT_GT(looked * stride, 100U);
}

TEST(durable_erase, that_a_sync_has_covered_stays_wherever_a_growth_stands_still) {
  erase_beside(make_chained, [](auto& h) { return h.reserve(doubled); }, 2 * sparse_stride(5));
}
/// The second of two shrinks may be cut short, while a lookup may still read what the first one has left.
TEST(durable_erase, that_a_sync_has_covered_stays_wherever_a_second_shrink_stands_still) {
  const auto make = [](const std::string& path) {
    auto t = make_chained(path);
    EXPECT_TRUE(t->reserve(2 * doubled));
    EXPECT_TRUE(t->sync());
    return t;
  };
  erase_beside(make, [](auto& h) { return h.shrink_to_fit(); }, 5 * sparse_stride(4));
}

} // namespace
} // namespace cubby_test
