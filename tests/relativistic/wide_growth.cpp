// SPDX-License-Identifier: Apache-2.0
// Growth by more than `most_siblings`. Updates at every stage take effect on every path that leads to their node, although only
// the listed buckets of a family are looked at (N6). A list that is too short is no list. The work is that of the entries.
#include <string>

#include "relativistic/family.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t few = relativistic::stripe_count;
constexpr std::uint64_t many = few * 512;
static_assert(many > few * relativistic::most_siblings);

template <class Value> class wide_growth : public ::testing::Test {};
using wide_values = ::testing::Types<std::uint64_t, wide_value>;
TYPED_TEST_SUITE(wide_growth, wide_values);

/// Random updates of one family.
template <class Value> class random_updates {
public:
  random_updates(family<Value>& of, random_source& random) : of_(of), random_(random) {}
  void add(std::size_t count) {
    while (count-- != 0) of_.insert(few * next_key());
  }
  void change(std::size_t count) {
    for (; count != 0; --count) {
      if (of_.keys.empty() || random_.below(3) == 0) {
        add(1);
        continue;
      }
      const std::uint64_t key = of_.keys[random_.below(of_.keys.size())];
      if (random_.below(4) == 0) of_.assign(key);
      else of_.erase(key);
    }
  }

private:
  /// Most keys share a bucket of the larger array with others.
  std::uint64_t next_key() { return 512 * ++last_ + random_.below(2) * 256 + random_.below(12); }
  family<Value>& of_;
  random_source& random_;
  std::uint64_t last_ = 100; // behind the keys that a test inserts itself
};

template <class Value> void grow_beside_updates(random_source& random, std::size_t before, std::size_t until_moved) {
  family<Value> f(few);
  random_updates<Value> others(f, random);
  others.add(before);
  f.begin(many);
  others.add(until_moved);
  for (bool going = true; going;) {
    others.change(random.below(8));
    going = f.go_on(true);
  }
  others.change(4);
  f.expect_precise();
}

TYPED_TEST(wide_growth, beside_updates_at_every_stage_leaves_precise_chains) {
  random_source random(181);
  for (unsigned round = 0; round < 60; ++round) {
    grow_beside_updates<TypeParam>(random, random.below(20), random.below(6));
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
  }
}

TYPED_TEST(wide_growth, with_more_siblings_than_the_list_has_space_for_looks_at_all) {
  random_source random(182);
  for (unsigned round = 0; round < 2; ++round) {
    family<TypeParam> f(few);
    f.insert(0);
    f.begin(many * 4);
    for (std::uint64_t n = 1; n < 700; ++n) f.insert(few * (n % 2048 + 2048 * (n % 2)));
    f.go_on(true);
    const auto& array = *f.t.work.to;
    EXPECT_EQ(array.siblings.runs[0].count, relativistic::sibling_list::too_many);
    random_updates<TypeParam> others(f, random);
    others.change(40);
    for (bool going = true; going;) going = f.go_on(true);
    f.expect_precise();
  }
}

} // namespace
} // namespace cubby_test
