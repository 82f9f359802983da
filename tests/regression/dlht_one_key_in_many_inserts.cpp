// SPDX-License-Identifier: Apache-2.0
// Inserts of one key stand still with a slot each, which they have not filled. They make no larger table and refuse no call: another
// insert of the key goes on at the same size. Once it took the bin for full of entries, and doubled the table.
#include <memory>
#include <thread>
#include <vector>

#include "engines.hpp"
#include "support/hooks.hpp"

namespace cubby_test {
namespace {

constexpr unsigned slots_of_a_bin = 15;

/// Stops its thread before the first store behind a swap: it has reserved its slot, and is about to fill it.
park_before::predicate before_it_fills() {
  return [swapped = false](step kind, const void*) mutable {
    swapped |= kind == step::rmw8;
    return swapped && kind == step::store;
  };
}

/// Threads that stand still in the middle of an insert of the same key.
class inserts_that_stand_still {
public:
  template <class Map>
  inserts_that_stand_still(Map& m, std::uint64_t key, unsigned count) {
    for (unsigned n = 0; n < count; ++n) {
      spots_.push_back(std::make_unique<parking>());
      threads_.emplace_back([&m, &spot = *spots_.back(), this, key] {
        (void)m.contains(key); // has its thread record
        const park_before stop(spot, before_it_fills());
        if (m.insert(key, 1)) inserted_.fetch_add(1);
      });
      EXPECT_TRUE(spots_.back()->wait_until_parked());
    }
  }
  unsigned finish() {
    for (auto& spot : spots_) spot->release();
    for (auto& thread : threads_) thread.join();
    return inserted_.load();
  }

private:
  std::vector<std::unique_ptr<parking>> spots_;
  std::vector<std::thread> threads_;
  std::atomic<unsigned> inserted_{0};
};

TEST(regression_dlht_one_key, in_many_inserts_makes_no_larger_table) {
  for (const auto growth : {cubby::growth_policy::incremental, cubby::growth_policy::cooperative,
                            cubby::growth_policy::background, cubby::growth_policy::fixed}) {
    table_options o = tiny_options(growth);
    o.capacity = 100;
    cubby::map<std::uint64_t, std::uint64_t, cubby::dlht> m(o);
    for (std::uint64_t n = 1000; n < 1020; ++n) ASSERT_TRUE(m.insert(n, n));
    const auto before = m.stats();
    inserts_that_stand_still others(m, 42, slots_of_a_bin);
    EXPECT_EQ(m.try_insert(42, 7), cubby::outcome::inserted) << "it waits for no thread that stands still";
    EXPECT_EQ(others.finish(), 0u);
    ASSERT_TRUE(m.reserve(0));
    EXPECT_EQ(m.find(42), 7u);
    EXPECT_EQ(m.size(), 21u);
    EXPECT_EQ(m.stats().bins, before.bins) << "growth " << static_cast<int>(growth);
    EXPECT_EQ(m.stats().growths, before.growths);
  }
}

/// While they go on, nothing is rebuilt for them either: the other insert waits for a moment.
TEST(regression_dlht_one_key, in_inserts_that_go_on_rebuilds_nothing) {
  table_options o = tiny_options();
  o.capacity = 100;
  cubby::map<std::uint64_t, std::uint64_t, cubby::dlht> m(o);
  inserts_that_stand_still others(m, 42, slots_of_a_bin);
  unsigned in_others = 0;
  /// Lets the others go at the first pause of its thread.
  class release_at_wait final : public watcher {
  public:
    release_at_wait(inserts_that_stand_still& others, unsigned& inserted) : others_(others), inserted_(inserted) {}
    void before(step kind, const void*) override {
      if (kind != step::wait || released_) return;
      released_ = true;
      inserted_ = others_.finish();
    }

  private:
    inserts_that_stand_still& others_;
    unsigned& inserted_;
    bool released_ = false;
  };
  {
    const release_at_wait at_first_pause(others, in_others);
    EXPECT_FALSE(m.insert(42, 7));
  }
  EXPECT_EQ(in_others, 1u);
  EXPECT_EQ(m.stats().growths + m.stats().rebuilds, 0u);
}

} // namespace
} // namespace cubby_test
