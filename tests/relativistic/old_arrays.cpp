// SPDX-License-Identifier: Apache-2.0
// The array that a resize leaves behind.
#include <algorithm>

#include "relativistic/family.hpp"

namespace cubby_test {
namespace {

TEST(relativistic_arrays, are_given_back_a_slice_at_a_time) {
  constexpr std::uint64_t large = std::uint64_t{1} << 21; // 16 MiB of heads
  constexpr std::uint64_t small = std::uint64_t{1} << 15;
  family<std::uint64_t> f(large);
  f.begin(small);
  std::size_t most = 0;
  std::size_t slices = 0;
  for (bool going = true; going;) {
    const std::size_t before = relativistic::stats(f.t).bytes;
    going = f.go_on(true);
    const std::size_t after = relativistic::stats(f.t).bytes;
    if (after >= before) continue;
    most = std::max(most, before - after);
    ++slices;
  }
  EXPECT_EQ(slices, large * sizeof(std::uint64_t) / cubby::detail::release_slice);
  EXPECT_EQ(most, cubby::detail::release_slice);
  EXPECT_EQ(relativistic::stats(f.t).bytes, small * sizeof(std::uint64_t));
}

} // namespace
} // namespace cubby_test
