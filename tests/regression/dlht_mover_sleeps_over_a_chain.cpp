// SPDX-License-Identifier: Apache-2.0
// A `background` table moves everything by itself, also when a migration to a third index comes up of which no thread
// tells it. One insert moves the last unit of the first index. Another takes its key and tells the mover too early, and
// the first one then has nothing to insert. It stands still before each of its steps; the mover is a thread of the test.
#include <gtest/gtest.h>

#include <cubby/map.hpp>

#include "support/scheduler.hpp"

namespace cubby_test {
namespace {

/// The high bits of a key say where it lives.
struct high_bits {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key; }
};
using table = cubby::map<std::uint64_t, std::uint64_t, cubby::dlht, high_bits>;
constexpr std::uint64_t apart = std::uint64_t{1} << 59; // the next bin in one of 32, the same bin in 16 and in 8

/// Runs the worker of one table under a scheduler.
class hosted_mover {
public:
  hosted_mover() {
    current() = this;
    static constexpr cubby::detail::worker_host here{&start, &sleep, &join};
    cubby::detail::install_worker_host(&here);
  }
  ~hosted_mover() { cubby::detail::install_worker_host(nullptr); }
  hosted_mover(const hosted_mover&) = delete;
  hosted_mover& operator=(const hosted_mover&) = delete;

  /// Until it sleeps or waits, several times: it looks up whenever it is given a turn.
  void rest() {
    for (unsigned i = 0; i < 10; ++i) (void)turns.run_until(number_, scheduler::never);
  }
  scheduler turns;

private:
  static hosted_mover*& current() {
    static hosted_mover* one = nullptr;
    return one;
  }
  static bool start(void* (*run)(void*), void* worker) {
    current()->number_ = current()->turns.start([run, worker] { (void)run(worker); });
    return true;
  }
  static void sleep(const void*) { cubby::detail::sync::backoff().pause(); }
  static void join(void*) { EXPECT_TRUE(current()->turns.finish(current()->number_)); }

  std::size_t number_ = 0;
};

/// True when the first insert has more than so many steps.
bool both_insert(std::uint64_t steps) {
  hosted_mover mover;
  cubby::dlht::options chosen;
  chosen.capacity = 1;
  chosen.growth = cubby::growth_policy::background;
  chosen.growth_factor = 2;
  table m(chosen);
  mover.rest();
  for (std::uint64_t n = 0; n < 15; ++n) m.insert((n % 2 == 0 ? 0 : apart) + 10 + n, n);
  EXPECT_FALSE(m.stats().migrating) << "the bin was to be full, and no more";
  bool inserted[2] = {};
  const auto insert = [&](std::size_t i) {
    return mover.turns.start([&, i] { inserted[i] = m.handle().insert(9, i); });
  };
  const std::size_t first = insert(0), second = insert(1);
  const bool ended = mover.turns.run(first, steps) == scheduler::stopped::finished;
  (void)mover.turns.run_until(second, scheduler::never);
  mover.rest();
  EXPECT_TRUE(mover.turns.finish(first) && mover.turns.finish(second));
  mover.rest();
  EXPECT_NE(inserted[0], inserted[1]);
  EXPECT_EQ(m.stats().growths, 2u) << "the full bin was to go two indexes further";
  EXPECT_FALSE(m.stats().migrating) << "the mover sleeps, and there is more to move; stopped at step " << steps;
  return !ended;
}

TEST(regression_dlht_mover, goes_on_with_a_migration_that_nobody_tells_it_of) {
  std::uint64_t steps = 0;
  while (both_insert(steps)) ++steps;
  EXPECT_GT(steps, 100u);
}

} // namespace
} // namespace cubby_test
