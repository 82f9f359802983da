// SPDX-License-Identifier: Apache-2.0
// A resize that meets a snapshot's frozen index must come back to it. Once, its sweep passed over the frozen bins for
// good, the migration never ended, and the next call that waited for its end did so for ever.
#include "dlht/stage.hpp"

namespace cubby_test {
namespace {

TEST(regression_dlht, a_resize_that_begins_in_a_snapshot_ends) {
  for (const bool shrink : {true, false}) {
    for (std::uint64_t at = 1;; at += 3) {
      engine_table::coding::map m(tiny_options(cubby::growth_policy::incremental));
      for (std::uint64_t k = 100; k < 160; ++k) ASSERT_TRUE(m.insert(k, k));
      for (std::uint64_t k = 110; k < 160; ++k) ASSERT_TRUE(m.erase(k));
      m.reserve(10); // ends what growth is under way
      scheduler turns;
      std::size_t seen = 0;
      const auto photographer = turns.start([&] { seen = m.snapshot().size(); });
      const auto resizer = turns.start([&] { shrink ? m.shrink_to_fit() : m.reserve(1000); });
      const auto how = turns.run(photographer, at);
      turns.run_until(resizer, scheduler::never);
      ASSERT_TRUE(turns.finish_all()) << "stopped at " << at;
      ASSERT_EQ(seen, 10u);
      for (std::uint64_t k = 100; k < 110; ++k) ASSERT_EQ(m.find(k), k);
      ASSERT_TRUE(m.shrink_to_fit()) << "waits for the end of every migration";
      if (how == scheduler::stopped::finished) break;
    }
  }
}

} // namespace
} // namespace cubby_test
