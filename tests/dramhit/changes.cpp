// SPDX-License-Identifier: Apache-2.0
// Changes through a pipeline. Each takes place once beside a thread that changes, erases or moves the entry meanwhile. The pipeline
// and the other verb stand still at any of their steps. Once answered, changes are seen.
#include <optional>

#include <cubby/pipeline.hpp>

#include "engines.hpp"
#include "linearizability/client.hpp"
#include "support/scheduler.hpp"

namespace cubby_test {
namespace {

using map = cubby::map<std::uint64_t, std::uint64_t, cubby::dramhit, clustered_hash>;
constexpr std::uint64_t crowd = 6; // keys before the one that is added to: it lies behind its home line

enum class other { adds, takes_out, moves };

class changes : public ::testing::TestWithParam<other> {
protected:
  static void add_in_a_pipeline(map& m) {
    auto pending = m.handle().pipeline();
    std::size_t done = 0;
    const auto count = [&](const auto& r) { done += r.result == cubby::outcome::done ? 1 : 0; };
    for (const std::uint64_t more : {std::uint64_t{100}, std::uint64_t{10000}}) {
      pending.submit({cubby::verb::insert_or_add, key, more}, count);
      pending.drain(count);
    }
    EXPECT_EQ(done, 2U);
  }
  static void run(other what, map& m, std::uint64_t& taken) {
    switch (what) {
    case other::adds: EXPECT_FALSE(m.insert_or_add(key, 1000000)); return;
    case other::takes_out: taken += m.extract(key).value_or(0); return;
    case other::moves: EXPECT_TRUE(m.reserve(200)); return;
    }
  }
  static constexpr std::uint64_t key = 4 + crowd;
};

INSTANTIATE_TEST_SUITE_P(dramhit, changes, ::testing::Values(other::adds, other::takes_out, other::moves));

TEST_P(changes, of_an_entry_in_a_pipeline_take_place_once_whatever_happens_to_it_meanwhile) {
  const std::uint64_t wanted = 5 + 100 + 10000 + (GetParam() == other::adds ? 1000000 : 0);
  for (std::uint64_t i = 0;; ++i) {
    bool adder_ended = false;
    for (std::uint64_t j = 0;; j += (GetParam() == other::moves ? 7 : 1)) {
      map m(tiny_options());
      for (std::uint64_t k = 4; k < key; ++k) ASSERT_TRUE(m.insert(k, k));
      ASSERT_TRUE(m.insert(key, 5));
      std::uint64_t taken = 0;
      scheduler turns;
      const auto adder = turns.start([&] { add_in_a_pipeline(m); });
      const auto second = turns.start([&] { run(GetParam(), m, taken); });
      adder_ended = turns.run(adder, i) == scheduler::stopped::finished;
      const bool other_ended = turns.run(second, j) == scheduler::stopped::finished;
      ASSERT_TRUE(turns.finish_all());
      ASSERT_EQ(taken + m.find(key).value_or(0), wanted) << "stopped at " << i << " and " << j;
      ASSERT_EQ(m.size(), crowd + (m.contains(key) ? 1 : 0));
      if (other_ended) break;
    }
    if (adder_ended) return;
  }
}

/// A mover that stands between the new place of an entry and its old one keeps others from the old one only while the entry
/// cannot change.
TEST(pipelined_changes, are_seen_by_threads_that_look_after_their_answer_beside_a_mover_at_any_step) {
  for (std::uint64_t i = 0;; ++i) {
    map m(tiny_options());
    for (std::uint64_t k = 4; k <= 10; ++k) ASSERT_TRUE(m.insert(k, 5));
    std::optional<std::uint64_t> seen;
    bool inserted = false;
    scheduler turns;
    const auto mover = turns.start([&] { ASSERT_TRUE(m.reserve(200)); });
    const auto other = turns.start([&] {
      auto pending = m.handle().pipeline();
      pending.submit({cubby::verb::erase, 10}, [](auto&&) {});
      pending.drain([](auto&& r) { EXPECT_EQ(r.result, cubby::outcome::done); });
      seen = m.find(10);
      inserted = m.insert(10, 7);
    });
    const bool last = turns.run(mover, i) == scheduler::stopped::finished;
    (void)turns.run(other, 3000);
    ASSERT_TRUE(turns.finish_all());
    ASSERT_FALSE(seen.has_value()) << "stopped at " << i;
    ASSERT_TRUE(inserted) << "stopped at " << i;
    if (last) return;
  }
}

} // namespace
} // namespace cubby_test
