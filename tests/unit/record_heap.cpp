// SPDX-License-Identifier: Apache-2.0
// Blocks for records in memory: each has one owner, its size and its place among the multiples of 16; no call waits; what is free goes back.
#include <cubby/detail/core/record_heap.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/fiber_scheduler.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

using cubby::detail::record_heap;
constexpr std::uint64_t chunk = std::uint64_t{2} << 20;

/// A block that is filled with a number of its own.
struct owned {
  unsigned char* at;
  std::size_t bytes;
  unsigned char mark;
};
owned take(record_heap& heap, std::size_t bytes, unsigned char mark) {
  auto* const at = static_cast<unsigned char*>(heap.take(bytes));
  if (at != nullptr) std::memset(at, mark, bytes);
  return {at, bytes, mark};
}
/// Whether it still has its number; gives it back.
bool give(record_heap& heap, const owned& one) {
  bool whole = true;
  for (std::size_t i = 0; i < one.bytes; ++i) whole = whole && one.at[i] == one.mark;
  heap.give(one.at, one.bytes);
  return whole;
}

TEST(record_heap, has_blocks_of_every_size_that_do_not_overlap) {
  record_heap heap;
  std::vector<owned> all;
  for (unsigned round = 0; round < 3; ++round) {
    for (std::size_t bytes = 1; bytes <= record_heap::most_bytes; ++bytes) {
      all.push_back(take(heap, bytes, static_cast<unsigned char>(bytes * 7 + round)));
      ASSERT_NE(all.back().at, nullptr);
      ASSERT_TRUE(record_heap::is_block(all.back().at));
    }
  }
  for (const owned& one : all) ASSERT_TRUE(give(heap, one)) << one.bytes << " bytes";
}

/// In the order of their addresses, and in any order, where each block that a thread keeps at hand could keep a chunk.
TEST(record_heap, gives_chunks_back_when_they_are_free) {
  for (const bool in_order : {true, false}) {
    record_heap heap;
    std::mt19937_64 random(run_seed());
    std::uint64_t most = chunk;                          // one more is kept free
    for (const std::size_t bytes : {24U, 1024U, 100U}) { // a slab of one size becomes one of another
      std::vector<owned> all;
      while (heap.bytes() < 16 * chunk) all.push_back(take(heap, bytes, 1));
      if (!in_order) std::shuffle(all.begin(), all.end(), random);
      for (const owned& one : all) ASSERT_TRUE(give(heap, one));
      most += (in_order ? 2 : 1) * chunk; // of each size a slab may stay, and some blocks at hand
      EXPECT_LE(heap.bytes(), most) << bytes << " bytes, in order: " << in_order;
    }
  }
}

TEST(record_heap, takes_the_free_blocks_before_new_chunks) {
  record_heap heap;
  std::vector<owned> all;
  while (heap.bytes() < 4 * chunk) all.push_back(take(heap, 48, 2));
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < all.size(); i += 2) ASSERT_TRUE(give(heap, all[i]));
    for (std::size_t i = 0; i < all.size(); i += 2) all[i] = take(heap, 48, static_cast<unsigned char>(round));
    EXPECT_EQ(heap.bytes(), 4 * chunk) << "round " << round;
  }
  for (const owned& one : all) ASSERT_TRUE(give(heap, one));
}

/// The kernel grants a process some 65,000 mappings.
TEST(record_heap, has_few_mappings_for_many_chunks) {
  const auto mappings = [] {
    std::ifstream maps("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
  };
  const auto before = mappings();
  record_heap heap;
  std::vector<owned> all;
  while (heap.bytes() < 100 * chunk) all.push_back(take(heap, 1024, 1));
  EXPECT_LE(mappings(), before + 20);
  for (const owned& one : all) ASSERT_TRUE(give(heap, one));
}

/// Where the locks of sizes and of chunks are taken most of the time, too.
TEST(record_heap, gives_chunks_back_beside_a_thread_that_takes_blocks) {
  record_heap heap;
  std::vector<owned> all;
  while (heap.bytes() < 64 * chunk) all.push_back(take(heap, 1024, 1));
  std::atomic<bool> over{false};
  std::thread other([&] {
    std::vector<owned> mine;
    while (!over.load()) {
      mine.push_back(take(heap, 512, 2));
      if (mine.back().at == nullptr) mine.pop_back();
      if (mine.size() < 20'000) continue;
      for (const owned& one : mine) give(heap, one);
      mine.clear();
    }
    for (const owned& one : mine) give(heap, one);
  });
  for (const owned& one : all) ASSERT_TRUE(give(heap, one));
  over = true;
  other.join();
  for (const std::size_t bytes : {1024U, 512U}) give(heap, take(heap, bytes, 3)); // what came last waits for a call
  EXPECT_LE(heap.bytes(), 8 * chunk);
}

TEST(record_heap, without_memory_has_none_and_serves_on) {
  static bool refuse = false;
  cubby::detail::memory::refuse_function const before = cubby::detail::memory::installed_failure();
  cubby::detail::memory::install_failure([](std::size_t) { return refuse; });
  {
    record_heap heap;
    refuse = true;
    EXPECT_EQ(heap.take(64), nullptr);
    refuse = false;
    const owned one = take(heap, 64, 3);
    ASSERT_NE(one.at, nullptr);
    refuse = true;
    std::vector<owned> all;
    for (owned next = take(heap, 64, 4); next.at != nullptr; next = take(heap, 64, 4)) all.push_back(next);
    EXPECT_GT(all.size(), 30000U) << "a chunk has more blocks of 64 bytes";
    for (const owned& next : all) ASSERT_TRUE(give(heap, next));
    EXPECT_TRUE(give(heap, one));
  }
  cubby::detail::memory::install_failure(before);
}

/// Takes so many blocks, as far as there are some.
std::vector<owned> take_some(record_heap& heap, std::size_t count, unsigned char mark) {
  std::vector<owned> mine;
  for (std::size_t i = 0; i < count; ++i) {
    const owned one = take(heap, 1024, mark);
    if (one.at != nullptr) mine.push_back(one);
  }
  return mine;
}
/// Gives all but three of them back.
void give_most(record_heap& heap, std::vector<owned>& mine) {
  for (; mine.size() > 3; mine.pop_back()) EXPECT_TRUE(give(heap, mine.back()));
}
/// How many blocks it has before it asks for a second chunk.
std::size_t blocks_of_one_chunk(record_heap& heap) {
  std::vector<owned> all;
  while (heap.bytes() <= chunk) all.push_back(take(heap, 1024, 3));
  for (const owned& one : all) EXPECT_TRUE(give(heap, one));
  return all.size();
}

/// The second one works from begin to end at any step of the first one, also where that has a lock: of a stripe, of a size, of the chunks. It
/// never waits, so it finishes. What it gives while the lock of the size is taken is not lost.
TEST(record_heap, never_waits_for_a_thread_that_is_stopped_at_any_step) {
  bool last = false;
  std::size_t refused = 0;
  for (std::uint64_t i = 0; !last; i += i < 300 ? 1 : 13) {
    record_heap heap;
    std::vector<owned> kept[2];
    kept[1] = take_some(heap, 300, 2);
    fiber_scheduler turns;
    const auto first = turns.start([&] {
      kept[0] = take_some(heap, 130, 1);
      give_most(heap, kept[0]);
    });
    last = turns.run(first, i) == fiber_scheduler::stopped::finished;
    give_most(heap, kept[1]);
    std::vector<owned> more = take_some(heap, 40, 4); // more than one thread has at hand
    refused += more.size() < 40 ? 1 : 0;
    ASSERT_TRUE(turns.finish_all());
    std::set<unsigned char*> places;
    for (const auto* some : {&kept[0], &kept[1], &more}) {
      for (const owned& one : *some) EXPECT_TRUE(places.insert(one.at).second) << "stopped at " << i;
      for (const owned& one : *some) EXPECT_TRUE(give(heap, one)) << "stopped at " << i;
    }
    constexpr std::size_t at_hand = 3 * 20; // of stripes that the last one does not use
    EXPECT_GE(blocks_of_one_chunk(heap) + at_hand, 32U * 63) << "stopped at " << i;
  }
  EXPECT_GT(refused, 0U) << "the second one never met a lock that it needs";
}

TEST(record_heap, keeps_blocks_of_many_threads_apart) {
  record_heap heap;
  const std::uint64_t seed = run_seed();
  std::vector<std::thread> threads;
  std::vector<owned> passed[4]; // each thread's blocks go to the next one
  std::atomic<int> broken{0};
  for (int round = 0; round < 4; ++round) {
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([&, t, round] {
        std::mt19937_64 random(seed + t + 100 * static_cast<unsigned>(round));
        std::vector<owned> mine = std::move(passed[t]);
        for (int i = 0; i < 20000; ++i) {
          if (mine.size() < 2000 || random() % 2 == 0) {
            const owned one =
                take(heap, 1 + random() % (random() % 8 == 0 ? 1024 : 80), static_cast<unsigned char>(random()));
            if (one.at != nullptr) mine.push_back(one);
          } else {
            std::swap(mine[random() % mine.size()], mine.back());
            if (!give(heap, mine.back())) ++broken;
            mine.pop_back();
          }
        }
        passed[t] = std::move(mine);
      });
    }
    for (std::thread& one : threads) one.join();
    threads.clear();
    std::swap(passed[0], passed[1]);
    std::swap(passed[2], passed[3]);
    std::swap(passed[1], passed[2]);
  }
  for (const auto& some : passed)
    for (const owned& one : some) broken += give(heap, one) ? 0 : 1;
  EXPECT_EQ(broken.load(), 0);
}

} // namespace
} // namespace cubby_test
