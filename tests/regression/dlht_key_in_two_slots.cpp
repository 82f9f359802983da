// SPDX-License-Identifier: Apache-2.0
// A find looks at the slots of a bin one after the other, so it may see its key in two of them, when the key moves in
// between. It must look again, and must not add the two up: once, it then read behind the bin.
#include "dlht/stage.hpp"

namespace cubby_test {
namespace {

TEST(regression_dlht, a_find_that_sees_its_key_in_two_slots_looks_again) {
  for (std::uint64_t at = 1; at < 15; ++at) {
    for (const bool in_first_line : {true, false}) {
      engine_table table;
      stage s(table);
      if (!in_first_line) s.before({{verb::insert, 1, 12}}); // the key is then in the first bucket of the chain
      s.before({{verb::insert, 5}});
      const auto reader = s.thread({{verb::find}, {verb::assign, 6}});
      const auto mover = s.thread({{verb::erase}, {verb::insert, 2, 11}, {verb::insert, 7}});
      s.turns.run(reader, at);
      s.turns.run_until(mover, scheduler::never);
      ASSERT_EQ(s.end(), judgement::linearizable) << "stopped at " << at << "\n" << s.found.text;
    }
  }
}

} // namespace
} // namespace cubby_test
