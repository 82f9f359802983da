// SPDX-License-Identifier: Apache-2.0
// Read sections and the waits for them. A wait ends after the sections that were open when it began and not before, and
// takes no notice of later ones. It tells a caller that would wait for itself.
#include <atomic>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include <cubby/detail/core/rcu.hpp>

#include "support/threads.hpp"

namespace cubby_test {
namespace {

using cubby::rcu::grace_period;
using cubby::rcu::read_section;
using cubby::rcu::synchronize;
using cubby::rcu::waited;

/// A thread that is inside `depth` nested sections until it is told to leave one after the other.
class reader {
public:
  explicit reader(unsigned depth) : thread_([this, depth] { stay(depth); }) {}
  ~reader() {
    leave(0);
    thread_.join();
  }
  [[nodiscard]] bool is_inside(unsigned depth) {
    return eventually([&] { return depth_.load() == depth; });
  }
  void leave(unsigned down_to) { wanted_.store(down_to); }

private:
  void stay(unsigned depth) {
    const read_section inside;
    depth_.fetch_add(1);
    if (depth > 1) stay(depth - 1);
    while (wanted_.load() >= depth_.load()) std::this_thread::yield();
    depth_.fetch_sub(1);
  }
  std::atomic<unsigned> depth_{0};
  std::atomic<unsigned> wanted_{1000};
  std::thread thread_;
};

TEST(rcu, a_wait_ends_at_once_when_nobody_is_inside) { EXPECT_EQ(synchronize(), waited::elapsed); }

TEST(rcu, a_grace_period_elapses_when_the_outermost_section_ends_and_not_before) {
  reader other(2);
  ASSERT_TRUE(other.is_inside(2));
  grace_period readers = grace_period::begin();
  EXPECT_FALSE(readers.elapsed());
  other.leave(1);
  ASSERT_TRUE(other.is_inside(1));
  EXPECT_FALSE(readers.elapsed()) << "the inner one ended";
  other.leave(0);
  EXPECT_TRUE(eventually([&] { return readers.elapsed(); }));
  EXPECT_TRUE(readers.elapsed()) << "and stays so";
}

TEST(rcu, a_wait_takes_no_notice_of_sections_that_open_later) {
  grace_period readers = grace_period::begin();
  reader later(1);
  ASSERT_TRUE(later.is_inside(1));
  EXPECT_TRUE(readers.elapsed());
  EXPECT_EQ(synchronize(nullptr, 1000), waited::too_long) << "one that begins now does";
}

TEST(rcu, a_blocking_wait_returns_after_the_reader_has_left) {
  reader other(1);
  ASSERT_TRUE(other.is_inside(1));
  std::atomic<bool> returned{false};
  std::thread waiter([&] {
    EXPECT_EQ(synchronize(), waited::elapsed);
    returned.store(true);
  });
  EXPECT_EQ(synchronize(nullptr, 2000), waited::too_long) << "the reader is still inside";
  EXPECT_FALSE(returned.load());
  other.leave(0);
  EXPECT_TRUE(eventually([&] { return returned.load(); }));
  waiter.join();
}

TEST(rcu, a_caller_inside_its_own_section_is_told) {
  {
    const read_section outer;
    const read_section inner;
    EXPECT_EQ(synchronize(), waited::inside);
  }
  EXPECT_EQ(synchronize(), waited::elapsed) << "and may wait when it has left both";
  cubby::detail::thread_record* const mine = cubby::detail::registry::claim();
  ASSERT_NE(mine, nullptr);
  {
    const cubby::detail::thread_pin pin(*mine);
    EXPECT_EQ(synchronize(mine), waited::inside) << "a handle's record that is passed is looked at, too";
  }
  EXPECT_EQ(synchronize(mine), waited::elapsed);
  cubby::detail::registry::release(mine);
}

/// Plain memory behind a pointer that is exchanged, waited for and freed. A section that outlived its wait would read
/// what was freed, which the sanitizers see, or a number that was overwritten.
TEST(rcu, what_was_unlinked_may_be_freed_after_the_wait) {
  struct cell {
    std::uint64_t number = 0;
    ~cell() { number = 0; }
  };
  cubby::detail::sync::word<cell*> shown(new cell{1});
  std::atomic<bool> stop{false};
  run_threads(3, [&](unsigned t) {
    if (t == 0) {
      for (std::uint64_t i = 2; i < 400; ++i) {
        cell* const old = shown.exchange(new cell{i}, cubby::detail::sync::acq_rel);
        EXPECT_EQ(synchronize(), waited::elapsed);
        delete old;
      }
      stop.store(true);
      return;
    }
    std::uint64_t last = 0;
    while (!stop.load()) {
      const read_section inside;
      const cell* const seen = shown.load(cubby::detail::sync::acquire);
      const std::uint64_t number = seen->number;
      std::this_thread::yield();
      ASSERT_GE(number, last == 0 ? 1 : last);
      ASSERT_EQ(seen->number, number);
      last = number;
    }
  });
  delete shown.load(cubby::detail::sync::relaxed);
}

TEST(rcu, threads_come_and_go_without_registering) {
  for (unsigned round = 0; round < 50; ++round) {
    std::thread([] { const read_section inside; }).join();
    ASSERT_EQ(synchronize(), waited::elapsed);
  }
}

} // namespace
} // namespace cubby_test
