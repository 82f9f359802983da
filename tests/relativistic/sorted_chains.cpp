// SPDX-License-Identifier: Apache-2.0
// Chains are sorted, whatever the order of inserts, removals and resizes. So the nodes that a larger array gives to one
// bucket lie side by side, and a growth by any factor waits for readers once.
#include <algorithm>

#include "relativistic/family.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

template <class Value>
class sorted_chains : public ::testing::Test {};
using kinds_of_node = ::testing::Types<std::uint64_t, wide_value>;
TYPED_TEST_SUITE(sorted_chains, kinds_of_node);

/// Every key is on the path of its bucket, and no path leads back in the order of chains.
template <class Value>
void expect_sorted_and_whole(const family<Value>& f) {
  for (const std::uint64_t key : f.keys) {
    const auto here = f.path(key);
    EXPECT_EQ(std::count(here.begin(), here.end(), key), 1) << key;
    EXPECT_TRUE(std::is_sorted(here.begin(), here.end(), relativistic::comes_before)) << "the path of " << key;
  }
}

TEST(order_of_chains, puts_the_buckets_of_every_size_one_behind_the_other) {
  std::vector<std::uint64_t> hashes(64);
  for (std::uint64_t i = 0; i < 64; ++i) hashes[i] = i;
  std::sort(hashes.begin(), hashes.end(), relativistic::comes_before);
  for (std::uint64_t buckets = 1; buckets <= 64; buckets *= 2) {
    for (std::uint64_t i = 1; i < 64; ++i) {
      const bool other = hashes[i] % buckets != hashes[i - 1] % buckets;
      EXPECT_EQ(other, i % (64 / buckets) == 0) << buckets << " buckets, place " << i;
      if (other) {
        EXPECT_EQ(relativistic::next_sibling(hashes[i - 1] % buckets, buckets - 1), hashes[i] % buckets);
      }
    }
    EXPECT_EQ(relativistic::next_sibling(buckets - 1, buckets - 1), 0u) << "behind the last comes the first";
  }
}

TYPED_TEST(sorted_chains, are_sorted_whatever_the_order_of_inserts) {
  std::vector<std::uint64_t> order = {1, 2, 3, 4, 5};
  do {
    family<TypeParam> f(64);
    for (const std::uint64_t place : order) f.insert(place * 64 + 7);
    expect_sorted_and_whole(f);
  } while (std::next_permutation(order.begin(), order.end()) && !::testing::Test::HasFailure());
}

TYPED_TEST(sorted_chains, are_cut_after_one_wait_for_readers_whatever_the_factor) {
  for (std::uint64_t factor = 2; factor <= relativistic::most_siblings; factor *= 2) {
    family<TypeParam> f(64);
    for (std::uint64_t i = 0; i < 64; ++i) f.insert(i * 64 + i % 2);
    for (const std::uint64_t buckets : {64 * factor, std::uint64_t{64}}) {
      f.begin(buckets);
      unsigned waits = 0;
      for (bool waited = false; relativistic::work_on(f.t, 1, true) != relativistic::progress::idle;
           waited = f.t.work.waiting) {
        waits += f.t.work.waiting && !waited ? 1 : 0;
      }
      EXPECT_EQ(waits, 1u) << "to " << buckets;
      f.expect_precise();
    }
  }
}

/// One piece of a resize, or the beginning of one, or an update of a key in families 0 and 1. So few keys that the table does
/// not grow by itself.
template <class Value>
void do_something(family<Value>& f, random_source& random) {
  const std::uint64_t what = random.below(8);
  const std::uint64_t key = random.below(32) * 64 + random.below(2);
  const bool there = std::count(f.keys.begin(), f.keys.end(), key) != 0;
  const std::uint64_t buckets = std::uint64_t{64} << random.below(7);
  if (what == 0 && f.t.work.at == relativistic::stage::idle &&
      buckets != f.t.buckets.load(cubby::detail::sync::relaxed)) {
    f.begin(buckets);
  } else if (what <= 1) {
    (void)relativistic::work_on(f.t, 1 + random.below(70), true);
  } else if (!there) {
    f.insert(key);
  } else if (what <= 4) {
    f.erase(key);
  } else {
    f.assign(key);
  }
}

TYPED_TEST(sorted_chains, stay_sorted_and_whole_through_updates_between_the_pieces_of_resizes) {
  random_source random(5300);
  for (std::uint64_t round = 0; round < scaled(20); ++round) {
    family<TypeParam> f(64);
    for (unsigned i = 0; i < 200; ++i) {
      do_something(f, random);
      expect_sorted_and_whole(f);
      ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round << ", step " << i;
    }
    while (relativistic::work_on(f.t, ~std::uint64_t{0}, true) != relativistic::progress::idle) {
    }
    f.expect_precise();
  }
}

} // namespace
} // namespace cubby_test
