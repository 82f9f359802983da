// SPDX-License-Identifier: Apache-2.0
// A change that is under way keeps every array that others leave behind. When it meets its entry it looks once more into older
// arrays: into those from which something may still move, not into all that it keeps. Else it would never be done beside
// a thread that rebuilds the table faster than it looks.
#include "engines.hpp"
#include "linearizability/client.hpp"
#include "support/fiber_scheduler.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t key = 5;

template <class Map> class rebuilder {
public:
  explicit rebuilder(Map& m) : m_(m) {}
  void once() {
    const auto before = m_.stats();
    const std::uint64_t made = before.rebuilds + before.growths;
    for (unsigned calls = 0; calls < 1000; ++calls) {
      const auto now = m_.stats();
      if (now.rebuilds + now.growths != made && !now.migrating) return;
      ASSERT_TRUE(m_.insert(next_, typename Map::mapped_type{next_}));
      ASSERT_TRUE(m_.erase(next_++));
    }
    FAIL() << "the table is not rebuilt";
  }

private:
  Map& m_;
  std::uint64_t next_ = 1000;
};

template <class Coding> class changes_beside_rebuilds : public ::testing::Test {};
using codings =
    ::testing::Types<word_coding<cubby::dramhit>, record_coding<cubby::dramhit>, record_coding<cubby::dramhit_tuples>>;
TYPED_TEST_SUITE(changes_beside_rebuilds, codings);

TYPED_TEST(changes_beside_rebuilds, are_done_however_many_arrays_they_keep) {
  using map = typename TypeParam::map;
  using value = typename map::mapped_type;
  map m(tiny_options());
  ASSERT_TRUE(m.insert(key, value{1}));
  rebuilder<map> other(m);
  fiber_scheduler turns;
  auto hand = m.handle();
  const auto change = turns.start([&] { EXPECT_TRUE(hand.assign(key, value{2})); });
  ASSERT_EQ(turns.run(change, 4), fiber_scheduler::stopped::before_step) << "inside its pin";
  for (unsigned kept = 0; kept < 60; ++kept) ASSERT_NO_FATAL_FAILURE(other.once());
  unsigned rounds = 0;
  while (turns.run(change, 40) != fiber_scheduler::stopped::finished && rounds < 60) {
    ASSERT_NO_FATAL_FAILURE(other.once());
    ++rounds;
  }
  EXPECT_LT(rounds, 60u) << "its looks into older arrays take longer than a rebuild, each time";
  ASSERT_TRUE(turns.finish_all());
  EXPECT_EQ(m.find(key), value{2});
}

} // namespace
} // namespace cubby_test
