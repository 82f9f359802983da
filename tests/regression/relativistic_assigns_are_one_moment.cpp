// SPDX-License-Identifier: Apache-2.0
// While a larger array is being unzipped two paths may lead to one node. An assign puts another node in the old one's
// stead on one path after the other. A lookup that stands on one of them must not see it while a later one on the other
// misses it.
#include "relativistic/family.hpp"

namespace cubby_test {
namespace {

template <class Value>
class regression_relativistic_assigns : public ::testing::Test {};
using kinds_of_value = ::testing::Types<std::uint64_t, wide_value>;
TYPED_TEST_SUITE(regression_relativistic_assigns, kinds_of_value);

/// A chain of bucket 0 of 64 has moved to buckets 0 and 64 of 128; a lookup has come to its first node by the old array.
/// Before step `number` of an assign to a node that both buckets lead to, others look. False: there is no such step.
template <class Value>
bool looks_before_step(unsigned number) {
  constexpr std::uint64_t own = 256, wanted = 512 + 64;
  family<Value> f(64);
  f.insert(own);
  f.insert(wanted);
  const cubby::detail::thread_pin inside(f.reader);
  const std::uint64_t by_the_old_array = relativistic::first_link(f.t, wanted);
  f.begin(128);
  f.go_on(false);
  EXPECT_TRUE(relativistic::node_at(by_the_old_array) != relativistic::node_at(relativistic::first_link(f.t, wanted)))
      << "or there is one path";
  bool looked = false;
  {
    const interruption here(number, [&] {
      const std::uint64_t first = f.shown_from(by_the_old_array, wanted);
      const std::uint64_t second = f.shown_from(relativistic::first_link(f.t, wanted), wanted);
      EXPECT_TRUE(first == wanted || first == wanted + f.assigned) << first << " before step " << number;
      EXPECT_EQ(first, second) << "before step " << number;
      EXPECT_EQ(f.scanned(wanted), std::make_pair(second, 1u)) << "before step " << number;
      looked = true;
    });
    f.assign(wanted);
    (void)here;
  }
  EXPECT_EQ(f.shown_from(by_the_old_array, wanted), wanted + f.assigned);
  while (f.go_on(true)) {
  }
  f.expect_precise();
  return looked;
}

TYPED_TEST(regression_relativistic_assigns, are_seen_on_every_path_or_on_none) {
  unsigned number = 0;
  while (looks_before_step<TypeParam>(number)) ++number;
  EXPECT_GT(number, 10u) << "or the assign was not watched";
}

} // namespace
} // namespace cubby_test
