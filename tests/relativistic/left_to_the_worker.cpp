// SPDX-License-Identifier: Apache-2.0
// The thread of a `background` table does not stop at the resize for which it was woken. What inserts and erases could not begin
// meanwhile it begins itself, and no thread has to write for it.
#include <bit>

#include <cubby/detail/core/rcu.hpp>

#include "engines.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

template <class Value>
class left_to_the_worker : public ::testing::Test {
protected:
  using map = cubby::map<std::uint64_t, Value, cubby::relativistic>;
  static table_options settings() {
    table_options o = tiny_options(cubby::growth_policy::background);
    o.shrink = cubby::shrink_policy::automatic;
    return o;
  }
  /// Without a write: looks only.
  static void expect_to_end_at(const map& m, std::size_t capacity) {
    EXPECT_TRUE(eventually([&] { return m.capacity() == capacity && !m.stats().migrating; }))
        << m.capacity() << " buckets for " << m.size() << " entries";
  }
};
using kinds_of_value = ::testing::Types<std::uint64_t, wide_value>;
TYPED_TEST_SUITE(left_to_the_worker, kinds_of_value);

TYPED_TEST(left_to_the_worker, a_growth_that_inserts_have_outrun_goes_on) {
  typename TestFixture::map m(this->settings());
  {
    const cubby::rcu::read_section reader; // under which the first growth cannot end
    for (std::uint64_t k = 0; k < 1000; ++k) ASSERT_TRUE(m.insert(k, TypeParam{}));
    ASSERT_TRUE(m.stats().migrating);
    ASSERT_LE(m.capacity(), 128u);
  }
  this->expect_to_end_at(m, 1024);
  for (std::uint64_t k = 0; k < 1000; ++k) ASSERT_TRUE(m.contains(k));
}

TYPED_TEST(left_to_the_worker, a_shrink_that_erases_have_outrun_goes_on) {
  typename TestFixture::map m(this->settings());
  ASSERT_TRUE(m.reserve(4096));
  for (std::uint64_t k = 0; k < 4000; ++k) ASSERT_TRUE(m.insert(k, TypeParam{}));
  ASSERT_EQ(m.stats().shrinks, 0u) << "space that was asked for stays";
  {
    const cubby::rcu::read_section reader; // under which the first shrink cannot end
    for (std::uint64_t k = 5; k < 4000; ++k) ASSERT_TRUE(m.erase(k));
    ASSERT_TRUE(m.stats().migrating);
    ASSERT_GT(m.capacity(), 64u);
  }
  this->expect_to_end_at(m, 64);
  for (std::uint64_t k = 0; k < 5; ++k) ASSERT_TRUE(m.contains(k));
}

TYPED_TEST(left_to_the_worker, capacity_that_is_asked_for_while_it_shrinks_stays) {
  for (const std::size_t asked : {0u, 200u, 900u, 4000u}) { // nothing, less than the shrink leaves, as much, and more
    typename TestFixture::map m(this->settings());
    ASSERT_TRUE(m.reserve(4096));
    for (std::uint64_t k = 0; k < 4000; ++k) ASSERT_TRUE(m.insert(k, TypeParam{}));
    {
      const cubby::rcu::read_section reader; // under which the shrink cannot end
      for (std::uint64_t k = 5; k < 4000; ++k) ASSERT_TRUE(m.erase(k));
      ASSERT_TRUE(eventually([&] { return m.capacity() == 1024; }));
      ASSERT_TRUE(m.reserve(asked));
    }
    const std::size_t wanted = asked == 0 ? 64 : std::bit_ceil(asked);
    this->expect_to_end_at(m, wanted);
    ASSERT_TRUE(m.reserve(0)); // ends a shrink that would have begun after all
    ASSERT_EQ(m.capacity(), wanted);
  }
}

} // namespace
} // namespace cubby_test
