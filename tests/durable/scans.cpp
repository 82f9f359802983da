// SPDX-License-Identifier: Apache-2.0
// Guarantee H.2: where a change is durable only after a drain, a scan and a batch of lookups show it only then, in all places that an entry
// may have.
#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include "durable/one_bucket.hpp"
#include "support/fiber_scheduler.hpp"

namespace cubby_test {
namespace {

struct drain_counter final : cubby::detail::persist::recorder {
  drain_counter() { cubby::detail::persist::install_recorder(this); }
  ~drain_counter() { cubby::detail::persist::install_recorder(nullptr); }
  drain_counter(const drain_counter&) = delete;
  drain_counter& operator=(const drain_counter&) = delete;
  void stored(const void*, std::size_t) override {}
  /// A step as well, so that the writer can stand still between its store and the drain.
  void wrote_back(const void* from, std::size_t) override {
    writes = true;
    cubby::detail::sync::hook(cubby::detail::sync::step::store, from);
    writes = false;
  }
  void drained() override { count.fetch_add(1); }
  std::atomic<std::uint64_t> count{0};
  std::atomic<bool> writes{false};
};

TEST(durable_scan, shows_no_assign_that_is_not_durable_wherever_the_writer_stands_still) {
  const own_folder folder;
  auto t = must_open<bucket_table>(folder.file("table"), {.capacity = 350, .write_lines_back = true});
  ASSERT_EQ(t->domain(), cubby::persistence::line);
  for (std::uint64_t k = 1; k <= entries_of_bucket; ++k) ASSERT_TRUE(t->insert(k, k));
  ASSERT_GT(t->stats().chained, 0U);
  const drain_counter drains;
  auto h = t->handle();
  std::uint64_t value = 1000;
  std::uint64_t shown_early = 0;
  std::uint64_t looked = 0;
  for (std::uint64_t k = 1; k <= entries_of_bucket; ++k) {
    bool ended = false;
    for (std::uint64_t stop = 0; !ended; stop += 5) {
      const std::uint64_t next = ++value;
      std::uint64_t shown = 0;
      fiber_scheduler turns;
      const auto scanner = turns.start([&] {
        t->visit_all([&](std::uint64_t key, std::uint64_t v) {
          if (key == k) shown = v;
        });
      });
      const auto writer = turns.start([&] { EXPECT_TRUE(h.assign(k, next)); });
      ended = turns.run(scanner, stop) == fiber_scheduler::stopped::finished;
      const std::uint64_t before = drains.count.load();
      (void)turns.run_until(writer, [&](step, const void*) { return drains.writes.load(); });
      looked += turns.ends_alone(scanner) && !ended ? 1 : 0;
      if (shown == next && drains.count.load() == before) ++shown_early;
      ASSERT_TRUE(turns.finish_all());
    }
  }
  EXPECT_EQ(shown_early, 0U);
  EXPECT_GT(looked, entries_of_bucket);
}

/// Few entries are behind their bucket, and none in a chain, so that a batch may answer by the words of back buckets.
TEST(durable_batch, shows_no_erase_that_is_not_durable_wherever_it_stands_still) {
  constexpr std::uint64_t entries = 62;
  const own_folder folder;
  auto t = must_open<bucket_table>(folder.file("table"), {.capacity = 350, .write_lines_back = true});
  for (std::uint64_t k = 1; k <= entries; ++k) ASSERT_TRUE(t->insert(k, k));
  const drain_counter drains;
  auto h = t->handle(), other = t->handle();
  std::uint64_t shown_early = 0;
  std::uint64_t looked = 0;
  for (std::uint64_t k = 1; k <= entries; ++k) {
    bool ended = false;
    for (std::uint64_t stop = 0; !ended; ++stop) {
      bool missed = false;
      fiber_scheduler turns;
      const auto batch = turns.start(
          [&] { other.visit_batch({k}, [&](std::size_t, const std::uint64_t* value) { missed = value == nullptr; }); });
      const auto writer = turns.start([&] { EXPECT_TRUE(h.erase(k)); });
      ended = turns.run(batch, stop) == fiber_scheduler::stopped::finished;
      const std::uint64_t before = drains.count.load();
      (void)turns.run_until(writer, [&](step, const void*) { return drains.writes.load(); });
      looked += turns.ends_alone(batch) && !ended ? 1 : 0;
      if (missed && drains.count.load() == before) ++shown_early;
      ASSERT_TRUE(turns.finish_all());
      ASSERT_TRUE(t->insert(k, k));
    }
  }
  EXPECT_EQ(shown_early, 0U);
  EXPECT_GT(looked, 0U);
}

} // namespace
} // namespace cubby_test
