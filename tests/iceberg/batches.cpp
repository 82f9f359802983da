// SPDX-License-Identifier: Apache-2.0
// Batches of lookups in iceberg find entries in the front yard, in the back yard and in chains, and nothing else.
#include <vector>

#include "engines.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

/// Keys of a crowd share a hash. 60 of them fill a front bucket, 100 two back buckets as well. Others are anywhere.
struct hash_of_one_crowd {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key < 1000 ? 5 : splitmix(key); }
};
using map_with_a_crowd = cubby::map<std::uint64_t, std::uint64_t, cubby::iceberg, hash_of_one_crowd>;

/// Few of the other keys have a tag that is in the front bucket or in a back bucket of theirs, so the words of back buckets tell.
TEST(iceberg_batches, find_entries_in_all_levels) {
  for (std::uint64_t round = 1; round < 40; ++round) {
    const std::uint64_t crowd = round % 2 == 0 ? 60 : 100;
    const auto key = [&](std::uint64_t n) { return n < crowd ? n : round * 1000 + n; };
    std::vector<std::uint64_t> asked;
    for (std::uint64_t n = 0; n < 200; ++n) asked.push_back(key(n));
    map_with_a_crowd m(cubby::options{.capacity = 240, .growth = cubby::growth_policy::fixed});
    for (std::uint64_t there = 0; there < 180; ++there) {
      ASSERT_TRUE(m.insert(key(there), there));
      if (there < crowd && there % 10 != 0) continue;
      m.visit_batch(asked, [&](std::size_t n, const std::uint64_t* value) {
        ASSERT_EQ(value != nullptr, n <= there) << n << " of " << there << ", round " << round;
        if (value != nullptr) {
          ASSERT_EQ(*value, n);
        }
      });
    }
  }
}

} // namespace
} // namespace cubby_test
