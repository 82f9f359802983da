// SPDX-License-Identifier: Apache-2.0
// An update that read its old value before the entry left must not be carried over to the entry of a later insert.
// It stalls before its swap; the entry is extracted; a second insert of the same pair stalls before it is valid; a third,
// with another value, wins. Once, the update's value then overwrote the third's, which the update had never read.
#include "dlht/stage.hpp"

namespace cubby_test {
namespace {

TEST(regression_dlht, an_update_changes_only_the_value_that_it_read) {
  for (unsigned swaps = 1; swaps < 5; ++swaps) {
    for (std::uint64_t steps = 1; steps < 40; ++steps) {
      engine_table table;
      stage s(table);
      s.before({{verb::insert, 5}});
      const auto updater = s.thread({{verb::update, 6}, {verb::find}});
      const auto taker = s.thread({{verb::extract}});
      const auto same = s.thread({{verb::insert, 5}});
      const auto rival = s.thread({{verb::insert, 100}, {verb::find}});
      s.turns.run_until(updater, scheduler::before_swap);
      s.turns.run_until(taker, scheduler::never);
      s.turns.run_until(same, before_header_swap(swaps));
      s.turns.run(rival, steps);
      s.turns.run_until(updater, scheduler::never);
      ASSERT_EQ(s.end(), judgement::linearizable) << "stops " << swaps << " " << steps << "\n" << s.found.text;
    }
  }
}

} // namespace
} // namespace cubby_test
