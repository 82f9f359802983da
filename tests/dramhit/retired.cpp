// SPDX-License-Identifier: Apache-2.0
// Arrays that leave: not before all that was in them is further on, nor while another thread looks at one. A mover stands
// still at any of its steps; others complete what it has left, look, scan, and free.
#include <vector>

#include "engines.hpp"
#include "support/scheduler.hpp"

namespace cubby_test {
namespace {

template <class Mode>
class retired : public ::testing::Test {};
using retired_kinds =
    ::testing::Types<word_mode<cubby::dramhit>, text_mode<cubby::dramhit>, tuple_mode<cubby::dramhit_tuples>>;
TYPED_TEST_SUITE(retired, retired_kinds);

constexpr std::uint64_t filled = 12; // the first four are marks as words

template <class Mode>
void fill(typename Mode::map& m) {
  for (std::uint64_t n = 0; n < filled; ++n) ASSERT_TRUE(m.insert(Mode::key(n), Mode::value(n)));
}
template <class Mode>
void expect_all(typename Mode::map& m, std::uint64_t stop) {
  for (std::uint64_t n = 0; n < filled; ++n) {
    const auto got = m.find(Mode::key(n));
    ASSERT_TRUE(got.has_value()) << n << " is lost, stopped at " << stop;
    ASSERT_EQ(Mode::number(*got), n) << "stopped at " << stop;
  }
}

/// Others move all but what it has taken: the root may not step past that.
TYPED_TEST(retired, only_when_every_unit_has_moved) {
  for (std::uint64_t i = 0;; i += 1 + cubby::detail::cpu::thread_sanitizer * 4) {
    typename TypeParam::map m(tiny_options());
    fill<TypeParam>(m);
    scheduler turns;
    const auto mover = turns.start([&] { ASSERT_TRUE(m.reserve(60)); });
    const auto helper = turns.start([&] {
      for (std::uint64_t n = 20; n < 24; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
      for (std::uint64_t n = 20; n < 24; ++n) ASSERT_TRUE(m.erase(TypeParam::key(n)));
    });
    const bool last = turns.run(mover, i) == scheduler::stopped::finished;
    ASSERT_EQ(turns.run_until(helper, scheduler::never), scheduler::stopped::finished) << "stopped at " << i;
    expect_all<TypeParam>(m, i);
    ASSERT_TRUE(turns.finish_all());
    expect_all<TypeParam>(m, i);
    ASSERT_EQ(m.size(), filled);
    if (last || ::testing::Test::HasFailure()) return;
  }
}

/// Each entry is met, wherever the mover stands; one that has gone on behind the scan may be met twice (F.1).
TYPED_TEST(retired, are_scanned_through_with_what_is_on_its_way) {
  for (std::uint64_t i = 0;; i += 1 + cubby::detail::cpu::thread_sanitizer * 4) {
    typename TypeParam::map m(tiny_options());
    fill<TypeParam>(m);
    scheduler turns;
    const auto mover = turns.start([&] { ASSERT_TRUE(m.reserve(60)); });
    const bool last = turns.run(mover, i) == scheduler::stopped::finished;
    std::vector<unsigned> met(filled, 0);
    m.visit_all([&](const auto& k, const auto& v) {
      const std::uint64_t n = TypeParam::number_of_key(k);
      ASSERT_LT(n, filled);
      ASSERT_EQ(TypeParam::number(v), n);
      ++met[n];
    });
    for (std::uint64_t n = 0; n < filled; ++n) ASSERT_GE(met[n], 1u) << n << ", stopped at " << i;
    ASSERT_TRUE(turns.finish_all());
    if (last || ::testing::Test::HasFailure()) return;
  }
}

/// Before the nth step from here that swaps or adds to one word.
scheduler::predicate before_swap_of_a_word(std::uint64_t n) {
  return [n](step kind, const void*) mutable { return kind == step::rmw8 && n-- == 0; };
}

/// A reader comes while the mover is about to step the root, and looks into the array after that has been freed, if it
/// can be. An access to memory that was unmapped ends the process. The mover itself has a pin, so another thread frees.
TYPED_TEST(retired, and_freed_only_behind_the_last_reader) {
  for (std::uint64_t j = 0;; ++j) {
    bool last = false;
    for (std::uint64_t i = 1;; ++i) {
      typename TypeParam::map m(tiny_options());
      fill<TypeParam>(m);
      scheduler turns;
      const auto mover = turns.start([&] { ASSERT_TRUE(m.reserve(60)); });
      const auto key = TypeParam::key(7);
      auto h = m.handle(); // before the reader's first step
      const auto reader = turns.start([&] {
        const auto got = h.find(key);
        ASSERT_TRUE(got.has_value());
        ASSERT_EQ(TypeParam::number(*got), 7u);
      });
      last = turns.run_until(mover, before_swap_of_a_word(j)) == scheduler::stopped::finished;
      const bool ended = turns.run(reader, i) == scheduler::stopped::finished;
      ASSERT_EQ(turns.run_until(mover, scheduler::never), scheduler::stopped::finished);
      ASSERT_TRUE(m.shrink_to_fit());
      ASSERT_TRUE(turns.finish_all());
      if (ended || ::testing::Test::HasFailure()) break;
    }
    if (last || ::testing::Test::HasFailure()) return;
  }
}

/// A reader has met one of these keys in a slot of its own, and stands. The key is erased and inserted again, into the next
/// array, because this one keeps its space for what must still move here: the slot is sealed, and keeps its value (J3).
TEST(retired_own_slots, that_are_sealed_keep_their_value) {
  constexpr std::uint64_t first = 100, live = 45, behind = 52;
  for (std::uint64_t mark = 0; mark < 4; ++mark) {
    for (std::uint64_t i = 0;; ++i) {
      cubby::map<std::uint64_t, std::uint64_t, cubby::dramhit> m(tiny_options());
      ASSERT_TRUE(m.insert(mark, 50));
      for (std::uint64_t n = 0; n < live; ++n) ASSERT_TRUE(m.insert(first + n, n));
      scheduler turns;
      const auto straggler = turns.start([&] { ASSERT_TRUE(m.reserve(behind)); });
      ASSERT_EQ(turns.run_until(straggler, scheduler::before_swap), scheduler::stopped::before_step);
      for (std::uint64_t n = live; n < behind + 6; ++n) ASSERT_TRUE(m.insert(first + n, n)); // moves the other units
      ASSERT_GE(m.stats().growths, 2u) << "the next array still takes inserts";
      const auto reader = turns.start([&] {
        const auto got = m.find(mark);
        if (got) {
          ASSERT_TRUE(*got == 50 || *got == 70) << *got << ", key " << mark << ", stopped at " << i;
        }
      });
      const bool last = turns.run(reader, i) == scheduler::stopped::finished;
      ASSERT_TRUE(m.erase(mark));
      ASSERT_TRUE(m.insert(mark, 70));
      turns.run_until(reader, scheduler::never);
      ASSERT_TRUE(turns.finish_all());
      ASSERT_EQ(m.find(mark), 70u);
      if (last || ::testing::Test::HasFailure()) break;
    }
  }
}

} // namespace
} // namespace cubby_test
