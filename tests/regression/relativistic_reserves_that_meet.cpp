// SPDX-License-Identifier: Apache-2.0
// A reserve looks at the size, and then takes the lock under which sizes change. Another reserve that runs to its end between
// the two must not be undone by the first.
#include <gtest/gtest.h>

#include <cubby/map.hpp>
#include <cubby/relativistic.hpp>

#include "relativistic/family.hpp"

namespace cubby_test {
namespace {

/// Acts before the thread takes a lock for the `number`th time, counted from 0.
class before_a_lock final : public watcher {
public:
  before_a_lock(unsigned number, std::function<void()> others) : number_(number), others_(std::move(others)) {}
  void before(step kind, const void*) override {
    if (kind == step::rmw8 && locks_++ == number_) others_();
  }

private:
  unsigned number_;
  unsigned locks_ = 0;
  std::function<void()> others_;
};

TEST(regression_relativistic_reserves, that_meet_leave_the_larger_table) {
  for (const std::size_t larger : {128u, 1024u}) {
    for (const unsigned number : {0u, 1u}) { // when it looks for a resize under way, and when it begins one
      cubby::map<std::uint64_t, std::uint64_t, cubby::relativistic> m(
          cubby::options{.shrink = cubby::shrink_policy::never});
      auto one = m.handle(), other = m.handle();
      std::size_t grown = 0;
      {
        const before_a_lock meet(number, [&] {
          EXPECT_TRUE(other.reserve(larger));
          grown = m.capacity();
        });
        EXPECT_TRUE(one.reserve(128));
      }
      EXPECT_EQ(grown, larger) << "or the other did not come";
      EXPECT_EQ(m.capacity(), larger) << "before lock " << number;
      EXPECT_EQ(m.stats().growths, 1u) << "before lock " << number;
      EXPECT_EQ(m.stats().shrinks, 0u) << "before lock " << number;
    }
  }
}

/// A shrink counts the entries, and then takes the lock: those that come between the two need their buckets.
TEST(regression_relativistic_reserves, a_shrink_leaves_space_for_entries_that_came_before_it_began) {
  for (const unsigned number : {0u, 1u}) { // when it looks for a resize under way, and when it begins one
    cubby::map<std::uint64_t, std::uint64_t, cubby::relativistic> m;
    auto one = m.handle(), other = m.handle();
    {
      const before_a_lock meet(number, [&] {
        for (std::uint64_t key = 0; key < 4096; ++key) EXPECT_TRUE(other.insert(key, key));
        EXPECT_TRUE(other.reserve(4096));
      });
      EXPECT_TRUE(one.shrink_to_fit());
    }
    EXPECT_EQ(m.size(), 4096u) << "or the other did not come";
    EXPECT_EQ(m.capacity(), 4096u) << "before lock " << number;
  }
}

} // namespace
} // namespace cubby_test
