// SPDX-License-Identifier: Apache-2.0
// An insert that shows its entry last must not show it in a slot that by then belongs to a later insert of the key.
// It stalls before that last step; the key is inserted by another, erased, and inserted again up to just before it is
// valid. Once, the stalled insert then ended as inserted while a find still missed.
#include "dlht/stage.hpp"

namespace cubby_test {
namespace {

TEST(regression_dlht, an_insert_shows_nothing_in_a_slot_that_is_not_yet_valid) {
  for (unsigned at = 1; at < 25; ++at) {
    for (unsigned swaps = 1; swaps < 8; ++swaps) {
      engine_table table;
      stage s(table);
      const auto late = s.thread({{verb::insert, 20}, {verb::find}});
      const auto other = s.thread({{verb::insert, 21}, {verb::erase}, {verb::insert, 22}, {verb::find}});
      s.turns.run(late, at);
      s.turns.run_until(other, before_header_swap(swaps));
      s.turns.run_until(late, scheduler::never);
      ASSERT_EQ(s.end(), judgement::linearizable) << "stops " << at << " " << swaps << "\n" << s.found.text;
    }
  }
}

} // namespace
} // namespace cubby_test
