// SPDX-License-Identifier: Apache-2.0
// A reader stands still before each of its steps, begun at each stage of a resize in both directions. Meanwhile another thread
// inserts, assigns or removes at that stage, and the resize goes as far as readers let it. The reader misses no key that is there
// throughout, whatever buckets the nodes of a family belong to, and finds none that is not.
#include <algorithm>

#include "relativistic/family.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

/// One interleaving, but for the step before which the reader stands.
struct scene {
  std::uint64_t from = 64;
  std::uint64_t to = 128;
  std::vector<std::uint64_t> keys; // inserted in this order, all in bucket 0 of 64
  unsigned stage = 0;              // pieces that have been done when the reader begins; 0: nothing has been moved
  std::uint64_t wanted = 0;
  std::uint64_t inserted = 0; // 0: none
  std::uint64_t assigned = 0; // 0: none
  std::uint64_t erased = 0;   // 0: none
  bool update_first = true;   // the update comes before the resize goes on, else after
  bool waits = true;          // false: the resize does not wait for the reader, which must then miss something
};

enum class ending { found, missed, no_such_step };

/// Lays the scene and plays it; `stages` receives the number of pieces that the resize takes.
template <class Value>
ending play(const scene& s, unsigned number, unsigned& stages) {
  family<Value> f(s.from);
  for (const std::uint64_t key : s.keys) f.insert(key);
  f.begin(s.to);
  unsigned pieces = 0;
  bool going = true;
  for (; going && pieces < s.stage; ++pieces) going = f.go_on(true);
  const auto update = [&] {
    if (s.inserted != 0) f.insert(s.inserted);
    if (s.assigned != 0) f.assign(s.assigned);
    if (s.erased != 0) f.erase(s.erased);
  };
  const auto others = [&] {
    if (s.update_first) update();
    if (s.waits) going = f.go_as_far_as_it_can();
    while (!s.waits && going) going = f.go_on(true);
    if (!s.update_first) update();
  };
  bool interrupted = false;
  const bool found = f.finds(s.wanted, number, others, interrupted);
  for (; going; ++pieces) going = f.go_on(true);
  stages = std::max(stages, pieces);
  f.expect_precise();
  if (!interrupted) return ending::no_such_step;
  return found ? ending::found : ending::missed;
}

/// Plays a scene with the reader before each of its steps; the number of times that it missed its key. A short run takes every third
/// step, and begins with another one in the next scene.
template <class Value>
unsigned misses_of(const scene& s, unsigned& stages) {
  static std::uint64_t scenes = run_seed() % 1000;
  const auto few = static_cast<unsigned>(sparse_stride(3));
  const auto begin = static_cast<unsigned>(scenes++ % few);
  unsigned missed = 0;
  // without waiting the old array goes under a reader that has yet to load its head: what is left to see are the cuts
  for (unsigned number = begin + (s.waits ? 0 : 2);; number += few) {
    const ending how = play<Value>(s, number, stages);
    if (how == ending::no_such_step || ::testing::Test::HasFailure()) return missed;
    missed += how == ending::missed ? 1 : 0;
  }
}

/// Every update at one stage about one wanted key: none, an insert into each bucket before and behind its nodes, an assign
/// and a removal of each key.
template <class Value>
unsigned misses_of_updates(scene s, unsigned& stages) {
  s.inserted = s.assigned = s.erased = 0;
  unsigned missed = misses_of<Value>(s, stages);
  for (const bool first : {true, false}) {
    s.update_first = first;
    for (const std::uint64_t bucket : {0u, 64u, 128u, 192u}) {
      for (const std::uint64_t place : {64u, 127u}) {
        s.inserted = 256 * place + bucket;
        missed += misses_of<Value>(s, stages);
      }
    }
    s.inserted = 0;
    for (const std::uint64_t key : s.keys) {
      s.assigned = key;
      missed += misses_of<Value>(s, stages);
      s.assigned = 0;
      s.erased = key;
      // a key that is removed meanwhile may be missed, but not be shown with another word
      const unsigned late = misses_of<Value>(s, stages);
      missed += key != s.wanted ? late : 0;
      s.erased = 0;
    }
  }
  return missed;
}

template <class Value>
unsigned misses_of_all(scene s, bool waits) {
  s.waits = waits;
  unsigned missed = 0;
  unsigned stages = 1;
  // without waiting only a reader that came before the resize misses anything
  for (s.stage = 0; s.stage <= (waits ? stages : 0); ++s.stage) {
    for (const std::uint64_t wanted : s.keys) {
      s.wanted = wanted;
      missed += misses_of_updates<Value>(s, stages);
      if (::testing::Test::HasFailure()) return missed;
    }
  }
  EXPECT_GT(stages, 1u);
  return missed;
}

/// Keys whose `i`th goes to the bucket of family 0 that the `i`th digit of `pattern` in base `ways` says.
std::vector<std::uint64_t> zipped(unsigned pattern, unsigned length, unsigned ways) {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < length; ++i, pattern /= ways) keys.push_back(256 * (i + 1) + 64 * (pattern % ways));
  return keys;
}

template <class Value>
class parked_reader : public ::testing::Test {};
using values = ::testing::Types<std::uint64_t, wide_value>;
TYPED_TEST_SUITE(parked_reader, values);

TYPED_TEST(parked_reader, misses_nothing_while_a_table_doubles) {
  const auto few = static_cast<unsigned>(sparse_stride(3));
  for (unsigned length = 1; length <= 3; ++length) {
    for (unsigned pattern = 0; pattern < 1u << length; pattern += length < 3 ? 1 : few) {
      ASSERT_EQ(misses_of_all<TypeParam>({.keys = zipped(pattern, length, 2)}, true), 0u)
          << length << " nodes, pattern " << pattern;
      if (::testing::Test::HasFailure()) return;
    }
  }
}

/// It goes on over other buckets' nodes, which are removed, replaced and cut off while it stands on them.
TYPED_TEST(parked_reader, finds_nothing_behind_its_bucket) {
  const auto few = static_cast<unsigned>(sparse_stride(3));
  for (unsigned pattern = 0; pattern < 16; pattern += few) {
    scene s{.to = 256, .keys = zipped(pattern, 2, 4), .wanted = 256 * 9};
    unsigned stages = 1;
    for (; s.stage <= stages; ++s.stage) {
      for (const std::uint64_t key : s.keys) {
        for (const bool assigns : {true, false}) {
          s.assigned = assigns ? key : 0;
          s.erased = assigns ? 0 : key;
          ending how = ending::missed;
          for (unsigned number = 0; how != ending::no_such_step; ++number) {
            how = play<TypeParam>(s, number, stages);
            ASSERT_NE(how, ending::found) << "pattern " << pattern << ", stage " << s.stage;
          }
        }
      }
    }
  }
}

TYPED_TEST(parked_reader, misses_nothing_while_longer_chains_are_unzipped) {
  random_source random(5000);
  for (unsigned round = 0; round < scaled(4); ++round) {
    const unsigned pattern = static_cast<unsigned>(random.below(32));
    ASSERT_EQ(misses_of_all<TypeParam>({.keys = zipped(pattern, 5, 2)}, true), 0u) << "pattern " << pattern;
    if (::testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(parked_reader, misses_nothing_while_a_table_grows_fourfold) {
  random_source random(5100);
  for (unsigned round = 0; round < scaled(4); ++round) {
    const unsigned pattern = static_cast<unsigned>(random.below(256));
    ASSERT_EQ(misses_of_all<TypeParam>({.to = 256, .keys = zipped(pattern, 4, 4)}, true), 0u) << "pattern " << pattern;
    if (::testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(parked_reader, misses_nothing_while_a_table_shrinks) {
  for (const std::uint64_t from : {128u, 256u}) {
    random_source random(5200 + from);
    for (unsigned round = 0; round < scaled(3); ++round) {
      const unsigned pattern = static_cast<unsigned>(random.below(256));
      ASSERT_EQ(misses_of_all<TypeParam>({.from = from, .to = 64, .keys = zipped(pattern, 4, 4)}, true), 0u)
          << "pattern " << pattern;
      if (::testing::Test::HasFailure()) return;
    }
  }
}

/// What the tests above would say of a resize that does not wait: so they can fail.
TYPED_TEST(parked_reader, misses_keys_of_a_resize_that_does_not_wait) {
  EXPECT_GT(misses_of_all<TypeParam>({.keys = zipped(0b0101, 4, 2)}, false), 0u);
}

} // namespace
} // namespace cubby_test
