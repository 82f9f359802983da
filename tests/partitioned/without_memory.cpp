// SPDX-License-Identifier: Apache-2.0
// A partitioned table whose allocations are refused. Making one, or a handle, throws and leaks nothing. The table goes on
// without a growth that it cannot have, as long as there is a slot. Then `flush` says that something was dropped, and all
// else is there.
#include <memory>
#include <new>

#include "partitioned/ways.hpp"
#include "support/failing_memory.hpp"
#include "support/hooks.hpp"

namespace cubby_test::partitioned_tests {
namespace {

TEST(partitioned_without_memory, by_each_allocation_of_a_table_and_a_handle) {
  { // thread records and the like, which stay
    map m(tiny(every_way[2]));
    auto h = m.handle();
    EXPECT_FALSE(m.contains(1));
  }
  const std::int64_t before = living_blocks();
  for (const way& w : {every_way[1], every_way[2]}) {
    unsigned failures = 0;
    for (std::uint64_t number = 1;; ++number) {
      memory_failure failure(number);
      try {
        map m(tiny(w));
        auto h = m.handle();
        h.insert_or_assign(1, 2);
        EXPECT_TRUE(h.flush());
        EXPECT_EQ(m.find(1), 2u);
      } catch (const std::bad_alloc&) {
        ++failures;
      }
      if (!failure.struck()) break;
      ASSERT_LT(number, 100u);
    }
    EXPECT_GE(failures, w.partitions + 4) << "partitions, their arrays, and four pieces of a handle";
  }
  EXPECT_EQ(living_blocks(), before);
}

TEST(partitioned_without_memory, growth_is_done_without_and_then_reported) {
  map m(tiny({"alone", 1, 0, false}));
  auto h = m.handle();
  set_index_memory(index_memory::none);
  std::uint64_t there = 0; // keys 0 .. there - 1 have been carried out
  while (true) {
    h.insert_or_assign(there, there);
    if (!h.flush()) break;
    ++there;
    ASSERT_LT(there, 1000u) << "it grew without memory";
  }
  EXPECT_GE(there, m.capacity()) << "not every slot was used";
  EXPECT_TRUE(h.flush()) << "a refusal is told once";
  for (std::uint64_t k = 0; k < there; ++k) ASSERT_EQ(m.find(k), k);
  EXPECT_FALSE(m.contains(there));
  EXPECT_EQ(m.size(), there);
  // In an array without an empty slot, misses end, and changes are made.
  EXPECT_FALSE(m.contains(99999));
  h.insert_or_add(5, 10);
  h.erase(6);
  EXPECT_TRUE(h.flush());
  EXPECT_EQ(m.find(5), 15u);
  EXPECT_FALSE(m.contains(6));
  EXPECT_FALSE(m.reserve(100000));
  set_index_memory(index_memory::plenty);
  h.insert_or_assign(there, there);
  EXPECT_TRUE(h.flush());
  EXPECT_EQ(m.find(there), there);
  EXPECT_EQ(m.size(), there);
  EXPECT_GT(m.capacity(), there);
}

} // namespace
} // namespace cubby_test::partitioned_tests
