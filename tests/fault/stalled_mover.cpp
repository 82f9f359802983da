// SPDX-License-Identifier: Apache-2.0
// Guarantee P of the DRAMHiT engine: a thread that stands still at any step while it moves entries holds up changes of the one
// key that it is moving. Lookups and inserts wait for no thread.
#include <memory>
#include <vector>

#include "engines.hpp"
#include "support/scheduler.hpp"

namespace cubby_test {
namespace {

template <class Mode>
class stalled_mover : public ::testing::Test {};
using stalled_mover_modes = ::testing::Types<word_mode<cubby::dramhit>, text_mode<cubby::dramhit>>;
TYPED_TEST_SUITE(stalled_mover, stalled_mover_modes);

constexpr std::uint64_t carried_keys = 12; // the first four are marks as words

/// Every key is looked up, inserted in vain and as a new one beside it: no thread waits.
template <class Mode>
void expect_looks_and_inserts_to_end(typename Mode::map& m, scheduler& turns, std::uint64_t stop) {
  const auto looker = turns.start([&] {
    for (std::uint64_t n = 0; n < carried_keys; ++n) {
      const auto got = m.find(Mode::key(n));
      ASSERT_TRUE(got.has_value()) << n << ", stopped at " << stop;
      ASSERT_EQ(Mode::number(*got), n);
      ASSERT_FALSE(m.insert(Mode::key(n), Mode::value(0)));
    }
    for (std::uint64_t n = 0; n < 4; ++n) ASSERT_TRUE(m.insert(Mode::key(100 + n), Mode::value(n)));
  });
  ASSERT_EQ(turns.run_until(looker, scheduler::never), scheduler::stopped::finished)
      << "a lookup or an insert waits for a mover that stands before its step " << stop;
}

TYPED_TEST(stalled_mover, holds_up_changes_of_the_one_key_that_it_carries) {
  std::uint64_t most = 0;
  for (std::uint64_t i = 0;; i += 1 + cubby::detail::cpu::thread_sanitizer * 4) {
    typename TypeParam::map m(tiny_options());
    for (std::uint64_t n = 0; n < carried_keys; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    scheduler turns;
    const auto mover = turns.start([&] { ASSERT_TRUE(m.reserve(60)); });
    const bool last = turns.run(mover, i) == scheduler::stopped::finished;
    expect_looks_and_inserts_to_end<TypeParam>(m, turns, i);
    std::uint64_t waiting = 0;
    for (std::uint64_t n = 0; n < carried_keys; ++n) {
      const auto one = turns.start([&m, n] { ASSERT_TRUE(m.assign(TypeParam::key(n), TypeParam::value(n + 100))); });
      waiting += turns.run_until(one, scheduler::never) == scheduler::stopped::finished ? 0 : 1;
    }
    ASSERT_LE(waiting, 1u) << "stopped at " << i;
    most = std::max(most, waiting);
    ASSERT_TRUE(turns.finish_all());
    for (std::uint64_t n = 0; n < carried_keys; ++n) {
      ASSERT_EQ(TypeParam::number(*m.find(TypeParam::key(n))), n + 100) << "stopped at " << i;
    }
    if (last || ::testing::Test::HasFailure()) break;
  }
  EXPECT_EQ(most, 1u) << "the mover never stood while it was moving an entry";
}

} // namespace
} // namespace cubby_test
