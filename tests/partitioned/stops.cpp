// SPDX-License-Identifier: Apache-2.0
// A reader of a partitioned table stands still before each of its steps in turn while writes happen, rebuilds among them. And a
// writer stands still before each of its own. What is read fits an order, and no freed array is touched.
#include <algorithm>
#include <optional>

#include "partitioned/ways.hpp"
#include "support/scheduler.hpp"

namespace cubby_test::partitioned_tests {
namespace {

/// Every stop; fewer under ThreadSanitizer, where each costs much more.
constexpr std::uint64_t stride = 1 + cubby::detail::cpu::thread_sanitizer * 6;

constexpr way alone = {"alone", 1, 0, false};

void put(map& m, std::uint64_t k, std::uint64_t v) {
  auto h = m.handle();
  h.insert_or_assign(k, v);
  ASSERT_TRUE(h.flush());
}
void take(map& m, std::uint64_t k) {
  auto h = m.handle();
  h.erase(k);
  ASSERT_TRUE(h.flush());
}

/// A key of a side slot, and one between others in a line.
class partitioned_stops : public ::testing::TestWithParam<std::uint64_t> {
protected:
  static void fill(map& m) {
    for (std::uint64_t k = 100; k < 110; ++k) put(m, k, k);
    put(m, key(), 50);
    for (std::uint64_t k = 110; k < 120; ++k) put(m, k, k);
  }
  static std::uint64_t key() { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(partitioned, partitioned_stops, ::testing::Values(0, 1, 3, 4, 77));

/// While the reader is on its way the key goes, and comes back as another value, its writer stopped on the way, too. A thread that
/// has seen it come back must not miss it afterwards.
TEST_P(partitioned_stops, of_a_find_meet_an_erase_and_a_second_coming) {
  for (std::uint64_t i = 0;; i += stride) {
    bool last = false;
    for (std::uint64_t j = 0;; j += stride) {
      map m(tiny(alone));
      fill(m);
      scheduler turns;
      std::optional<std::uint64_t> first, second;
      const auto reader = turns.start([&] { first = m.find(key()); });
      last = turns.run(reader, i) == scheduler::stopped::finished;
      take(m, key());
      const auto writer = turns.start([&] { put(m, key(), 70); });
      const bool ended = turns.run(writer, j) == scheduler::stopped::finished;
      ASSERT_EQ(turns.run_until(reader, scheduler::never), scheduler::stopped::finished);
      second = m.find(key());
      ASSERT_TRUE(turns.finish_all());
      if (last) {
        ASSERT_EQ(first, 50u);
      } else {
        ASSERT_TRUE(!first || *first == 50 || *first == 70) << *first;
      }
      if (first == 70u) {
        ASSERT_EQ(second, 70u) << "seen, then gone; stopped at " << i << ", " << j;
      }
      ASSERT_TRUE(!second || *second == 70) << "erased, and flushed, before this find began";
      ASSERT_EQ(m.find(key()), 70u);
      if (ended) break;
    }
    if (last) return;
  }
}

/// The array that the reader is in is replaced, and looked at for freeing. Nothing is mapped afterwards, so that a freed one would
/// end the process.
TEST_P(partitioned_stops, of_a_find_meet_a_rebuild) {
  for (std::uint64_t i = 0;; i += stride) {
    map m(tiny(alone));
    fill(m);
    scheduler turns;
    std::optional<std::uint64_t> seen;
    const auto reader = turns.start([&] { seen = m.find(key()); });
    const bool last = turns.run(reader, i) == scheduler::stopped::finished;
    ASSERT_TRUE(m.reserve(500));
    put(m, key(), 60);
    ASSERT_EQ(turns.run_until(reader, scheduler::never), scheduler::stopped::finished);
    ASSERT_TRUE(seen == 50u || seen == 60u) << "lost by a rebuild, stopped at " << i;
    ASSERT_TRUE(turns.finish_all());
    if (last) return;
  }
}

/// A writer stands in the middle of a rebuild: readers find everything, at every one of its steps.
TEST_P(partitioned_stops, of_a_rebuild_hold_no_reader_up) {
  for (std::uint64_t i = 0;; i += stride) {
    map m(tiny(alone));
    fill(m);
    scheduler turns;
    const auto mover = turns.start([&] { ASSERT_TRUE(m.reserve(500)); });
    const bool last = turns.run(mover, i) == scheduler::stopped::finished;
    ASSERT_EQ(m.find(key()), 50u) << "stopped at " << i;
    for (std::uint64_t k = 100; k < 120; ++k) ASSERT_EQ(m.find(k), k) << "stopped at " << i;
    std::uint64_t met = 0;
    m.visit_all([&](std::uint64_t, std::uint64_t) { ++met; });
    ASSERT_EQ(met, 21u) << "stopped at " << i;
    ASSERT_TRUE(turns.finish_all());
    if (last) return;
  }
}

TEST_P(partitioned_stops, of_a_scan_meet_writes_and_a_rebuild) {
  for (std::uint64_t i = 0;; i += stride) {
    map m(tiny(alone));
    fill(m);
    scheduler turns;
    std::vector<std::uint64_t> met;
    const auto scanner = turns.start([&] {
      m.visit_all([&](std::uint64_t k, std::uint64_t v) {
        if (k != key()) {
          ASSERT_EQ(k, v);
        }
        met.push_back(k);
      });
    });
    const bool last = turns.run(scanner, i) == scheduler::stopped::finished;
    take(m, key());
    put(m, key(), 70);
    ASSERT_TRUE(m.reserve(500));
    take(m, key());
    ASSERT_EQ(turns.run_until(scanner, scheduler::never), scheduler::stopped::finished);
    for (std::uint64_t k = 100; k < 120; ++k)
      ASSERT_EQ(std::count(met.begin(), met.end(), k), 1) << "key " << k << ", stopped at " << i;
    ASSERT_TRUE(turns.finish_all());
    if (last) return;
  }
}

/// While one thread serves, another one waits: a value that one of them has read is not changed by the other.
TEST(partitioned_stop, of_a_server_lets_nobody_else_write) {
  for (std::uint64_t i = 0;; i += stride) {
    map m(tiny(alone));
    put(m, 77, 1);
    scheduler turns;
    const auto add = [&m] {
      auto h = m.handle();
      h.insert_or_add(77, 1);
      ASSERT_TRUE(h.flush());
    };
    const auto server = turns.start(add);
    const bool last = turns.run(server, i) == scheduler::stopped::finished;
    const auto other = turns.start(add);
    (void)turns.run_until(other, scheduler::never);
    ASSERT_TRUE(turns.finish_all());
    ASSERT_EQ(m.find(77), 3u) << "an add was lost, stopped at " << i;
    if (last) return;
  }
}

/// A thread that stands still while it serves holds up writes to its partition, and no other thread.
TEST(partitioned_stop, of_a_server_hold_up_its_partition_alone) {
  for (std::uint64_t i = 0;; i += stride) {
    map m(tiny({"two", 2, 0, false}));
    std::uint64_t keys[2] = {100, 100};
    while (m.partition_of(keys[0]) != 0) ++keys[0];
    while (m.partition_of(keys[1]) != 1) ++keys[1];
    put(m, keys[0], 1);
    scheduler turns;
    const auto server = turns.start([&] { put(m, keys[0], 2); });
    const bool last = turns.run(server, i) == scheduler::stopped::finished;
    const auto other = turns.start([&] { put(m, keys[1], 3); });
    ASSERT_EQ(turns.run_until(other, scheduler::never), scheduler::stopped::finished) << "stopped at " << i;
    ASSERT_EQ(m.find(keys[1]), 3u);
    const auto seen = m.find(keys[0]);
    ASSERT_TRUE(seen == 1u || seen == 2u);
    ASSERT_TRUE(turns.finish_all());
    ASSERT_EQ(m.find(keys[0]), 2u);
    if (last) return;
  }
}

/// Notes whether a locked instruction came after the last plain store.
class last_store final : public watcher {
public:
  void before(step kind, const void*) override {
    if (kind == step::store) waits_ = true;
    else if (kind == step::rmw8 || kind == step::rmw16 || kind == step::fence) waits_ = false;
  }
  [[nodiscard]] bool waits() const { return waits_; }

private:
  bool waits_ = false; // it may lie in the store buffer
};

/// Order across keys (A.10): after a flush others see the writes before this thread looks at anything else. Two threads that meet show a lost
/// order too seldom to count on.
TEST(partitioned_flush, leaves_no_write_in_the_store_buffer) {
  map m(tiny(alone));
  auto h = m.handle();
  h.own(0);
  h.insert_or_assign(77, 1);
  ASSERT_TRUE(h.flush());
  const auto ends_seen = [&](auto write) {
    const last_store mine;
    write();
    EXPECT_TRUE(h.flush());
    return !mine.waits();
  };
  EXPECT_TRUE(ends_seen([&] { h.insert_or_assign(77, 2); }));
  EXPECT_TRUE(ends_seen([&] { h.insert_or_add(77, 2); }));
  EXPECT_TRUE(ends_seen([&] { h.erase(77); }));
  EXPECT_TRUE(ends_seen([&] { h.insert_or_assign(77, 2); }));
}

} // namespace
} // namespace cubby_test::partitioned_tests
