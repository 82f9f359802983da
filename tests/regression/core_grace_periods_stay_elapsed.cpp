// SPDX-License-Identifier: Apache-2.0
// A reader that has taken the number of its epoch and not yet shown it is in no thread's way, and a wait for readers ends. When it
// then shows a number from before the wait, the wait was told to begin again.
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include <cubby/detail/core/rcu.hpp>

#include "support/hooks.hpp"

namespace cubby_test {
namespace {

TEST(grace_periods, stay_elapsed_when_a_reader_shows_an_old_epoch) {
  parking before_it_shows;
  std::atomic<bool> inside{false}, leave{false};
  std::thread reader([&] {
    ASSERT_NE(cubby::detail::registry::local(), nullptr); // so that the first store below is the thread record's
    park_before stand(before_it_shows, [](step kind, const void*) { return kind != step::load; });
    const cubby::rcu::read_section section;
    inside.store(true);
    while (!leave.load()) std::this_thread::yield();
  });
  ASSERT_TRUE(before_it_shows.wait_until_parked());
  cubby::rcu::grace_period readers = cubby::rcu::grace_period::begin();
  EXPECT_TRUE(readers.elapsed());
  before_it_shows.release();
  ASSERT_TRUE(eventually([&] { return inside.load(); }));
  EXPECT_TRUE(readers.elapsed());
  EXPECT_FALSE(cubby::rcu::grace_period::begin().elapsed()) << "or the reader was not inside";
  leave.store(true);
  reader.join();
}

} // namespace
} // namespace cubby_test
