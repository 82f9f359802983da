// SPDX-License-Identifier: Apache-2.0
// A thread that completes a migration first lets the table's root step on and then retires the old index. A thread that finds
// nothing to do in between must not keep others from freeing that index later. Once it waited there until the next
// growth, which may never come.
#include "dlht/stage.hpp"

namespace cubby_test {
namespace {

/// Enough calls that one of them looks at the old indexes, wherever their count begins.
template <class Api>
void inserts_and_erases(Api& f, std::uint64_t k) {
  for (unsigned n = 0; n < 70; ++n) {
    ASSERT_TRUE(f.insert(k, n));
    ASSERT_TRUE(f.erase(k));
  }
}

TEST(regression_dlht, an_index_retired_while_others_look_is_freed) {
  for (unsigned changes = 1, ended = 0; ended == 0; ++changes) {
    engine_table::coding::map m(tiny_options());
    ASSERT_TRUE(m.insert(100, 1));
    auto a = m.handle(), b = m.handle();
    scheduler turns;
    const auto resizer = turns.start([&] { EXPECT_TRUE(a.reserve(24)); });
    const auto worker = turns.start([&] { inserts_and_erases(b, 101); });
    ended = turns.run_until(resizer, before_change(changes)) == scheduler::stopped::finished ? 1 : 0;
    turns.run_until(worker, scheduler::never);
    ASSERT_TRUE(turns.finish_all());
    ASSERT_FALSE(m.stats().migrating);
    inserts_and_erases(m, 102);
    ASSERT_EQ(m.stats().retired, 0u) << "stopped before change " << changes;
    ASSERT_EQ(m.find(100), 1u);
  }
}

} // namespace
} // namespace cubby_test
