// SPDX-License-Identifier: Apache-2.0
// The pairs of docs/memory-order.md that protect memory from being freed too early, with membarrier and, in a second
// run, with the fence that replaces it; and the lock.
#include <gtest/gtest.h>

#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/core/rcu.hpp>
#include <cubby/detail/core/registry.hpp>

#include "litmus/two_threads.hpp"

namespace cubby_test {
namespace {

using cubby::detail::registry;
namespace sync = cubby::detail::sync;

/// A thread record for each of the two threads.
struct two_thread_records {
  cubby::detail::thread_record* at[2] = {registry::claim(), registry::claim()};
  two_thread_records() = default;
  ~two_thread_records() {
    for (auto* const s : at) registry::release(s);
  }
  two_thread_records(const two_thread_records&) = delete;
  two_thread_records& operator=(const two_thread_records&) = delete;
};

struct object {
  std::uint64_t number = 7;
};
struct links {
  static constexpr std::size_t size = 256;
  object old_one[size];
  object new_one[size];
  sync::word<object*> root[size];
  links() {
    for (std::size_t i = 0; i < size; ++i) root[i].store(&old_one[i], sync::relaxed);
  }
};

/// Store-load on both sides: a reader that still sees the object is seen by the scan, and the object waits for it.
TEST(litmus, a_pin_or_the_scan_sees_the_other) {
  const two_thread_records thread_records;
  meet<links>(
      60,
      [&](links& l, std::size_t i) {
        const cubby::detail::thread_pin stay(*thread_records.at[0]);
        const object* const seen = l.root[i].load(sync::acquire);
        ASSERT_EQ(seen->number, 7u);
        ASSERT_EQ(seen->number, 7u);
      },
      [](links& l, std::size_t i) {
        l.root[i].store(&l.new_one[i], sync::release);
        const std::uint64_t epoch = registry::advance();
        spin_until([&] { return registry::oldest() >= epoch; });
        l.old_one[i].number = 0; // stands for freeing it
      });
}

/// A reader that does not leave before the other has decided, so that the two answers can be compared, and the gap need
/// not be hit by a third access.
struct decisions {
  static constexpr std::size_t size = 256;
  sync::word<std::uint64_t> unlinked[size];
  std::atomic<unsigned> here[size] = {};
  std::atomic<bool> decided[size] = {};
  bool none_inside[size] = {};

  /// Both go on at about the same time, one of them a little later.
  void meet_at(std::size_t i, random_source& random) {
    here[i].fetch_add(1);
    spin_until([&] { return here[i].load() == 2; });
    for (std::uint64_t n = random.below(256); n != 0; --n) asm volatile("" ::: "memory");
  }
};

/// `look() -> bool`: no thread is inside who entered before what is behind the writer. Seen by neither side: an error.
template <class Look>
void compare_a_pin_with(Look look) {
  const two_thread_records thread_records;
  random_source reader(1), writer(2);
  meet<decisions>(
      100,
      [&](decisions& d, std::size_t i) {
        d.meet_at(i, reader);
        const cubby::detail::thread_pin stay(*thread_records.at[0]);
        const bool saw_it_linked = d.unlinked[i].load(sync::acquire) == 0;
        spin_until([&] { return d.decided[i].load(); });
        ASSERT_FALSE(saw_it_linked && d.none_inside[i]);
      },
      [&](decisions& d, std::size_t i) {
        d.meet_at(i, writer);
        d.unlinked[i].store(1, sync::release);
        d.none_inside[i] = look();
        d.decided[i].store(true);
      });
}

TEST(litmus, a_pin_that_stays_or_one_scan_sees_the_other) {
  compare_a_pin_with([] {
    const std::uint64_t epoch = registry::advance();
    return registry::oldest() >= epoch;
  });
}
/// The barrier is in `begin`; the look that decides has none.
TEST(litmus, a_pin_that_stays_or_a_grace_period_sees_the_other) {
  compare_a_pin_with([] { return cubby::rcu::grace_period::begin().elapsed(); });
}

struct tags {
  static constexpr std::size_t size = 256;
  sync::word<std::uint64_t> epoch[size];
  std::uint64_t passenger[size] = {};
};

TEST(litmus, an_epoch_carries_what_came_before_it) {
  const two_thread_records thread_records;
  meet<tags>(
      20,
      [](tags& t, std::size_t i) {
        t.passenger[i] = i + 1;
        t.epoch[i].store(registry::advance(), sync::relaxed);
      },
      [&](tags& t, std::size_t i) {
        std::uint64_t epoch = 0;
        spin_until([&] { return (epoch = t.epoch[i].load(sync::relaxed)) != 0; });
        const cubby::detail::thread_pin stay(*thread_records.at[1]);
        ASSERT_GE(registry::oldest(), epoch) << "no other thread is inside";
        ASSERT_EQ(t.passenger[i], i + 1);
      });
}

TEST(litmus, a_thread_record_carries_its_last_owner) {
  static constexpr std::size_t most = 4096;
  const auto passengers = std::make_unique<std::uint64_t[]>(most);
  const std::uint64_t rounds = scaled(20'000);
  run_threads(2, [&](unsigned) {
    for (std::uint64_t n = 0; n < rounds; ++n) {
      cubby::detail::thread_record* const s = registry::claim();
      ASSERT_NE(s, nullptr);
      ASSERT_LT(s->id(), most);
      ++passengers[s->id()];
      registry::release(s);
    }
  });
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < most; ++i) sum += passengers[i];
  EXPECT_EQ(sum, 2 * rounds);
}

TEST(litmus, a_lock_carries_its_last_holder) {
  cubby::detail::small_lock<> lock;
  std::uint64_t passenger = 0;
  const std::uint64_t rounds = scaled(100'000);
  run_threads(2, [&](unsigned) {
    for (std::uint64_t n = 0; n < rounds; ++n) {
      const cubby::detail::lock_scope hold(lock);
      ++passenger;
    }
  });
  EXPECT_EQ(passenger, 2 * rounds);
}

} // namespace
} // namespace cubby_test
