// SPDX-License-Identifier: Apache-2.0
// Units of a migration: each is moved and counted once, whichever thread helps with it and whatever stands still meanwhile; and
// one that does not fit the next index goes one further.
#include <vector>

#include <cubby/map.hpp>

#include "engines.hpp"
#include "support/scheduler.hpp"

namespace cubby_test {
namespace {

/// Sixteen neighbouring keys to a bin of the smallest table; a larger one parts them.
struct sixteens_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key << 57; }
};

/// An insert that finds no space moves its bin before its turn, and stops at each of its steps. Another thread helps the
/// table over all other bins. A third looks for everything.
TEST(units, are_moved_and_counted_once) {
  std::vector<std::uint64_t> keys{1, 2, 10, 16, 32, 48, 64, 100, 112};
  for (std::uint64_t k = 80; k < 95; ++k) keys.push_back(k);
  for (std::uint64_t i = 0;; ++i) {
    cubby::map<std::uint64_t, std::uint64_t, cubby::dlht, sixteens_hash> m(tiny_options());
    for (const std::uint64_t k : keys) ASSERT_TRUE(m.insert(k, k));
    scheduler turns;
    const auto mover = turns.start([&] { ASSERT_TRUE(m.insert(95, 95)); });
    const auto helper = turns.start([&] {
      for (unsigned n = 0; n < 8; ++n) {
        ASSERT_TRUE(m.insert(101, n));
        ASSERT_TRUE(m.erase(101));
      }
    });
    const auto looker = turns.start([&] {
      for (const std::uint64_t k : keys) ASSERT_EQ(m.find(k), k) << "stopped at " << i;
    });
    const bool last = turns.run(mover, i) == scheduler::stopped::finished;
    turns.run_until(helper, scheduler::never);
    turns.run_until(looker, scheduler::never);
    ASSERT_TRUE(turns.finish_all());
    for (const std::uint64_t k : keys) ASSERT_EQ(m.find(k), k) << "stopped at " << i;
    ASSERT_EQ(m.find(95), 95u);
    ASSERT_EQ(m.size(), keys.size() + 1);
    if (last) return;
  }
}

/// Two neighbouring bins of 32, which are one of 16.
struct pair_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return ((6 + key % 2) << 59) | (key << 40); }
};

TEST(units, that_do_not_fit_go_one_index_further) {
  for (std::uint64_t count = 10; count < 22; ++count) {
    cubby::map<std::uint64_t, std::uint64_t, cubby::dlht, pair_hash> m(tiny_options());
    ASSERT_TRUE(m.reserve(40));
    ASSERT_EQ(m.stats().bins, 32u);
    for (std::uint64_t k = 100; k < 100 + count; ++k) ASSERT_TRUE(m.insert(k, k));
    ASSERT_TRUE(m.shrink_to_fit());
    if (count > 15) {
      ASSERT_EQ(m.stats().bins, 32u) << count << " entries do not fit a bin, so the table went back";
    } else {
      ASSERT_LE(m.stats().bins, 16u);
    }
    std::uint64_t met = 0;
    m.visit_all([&](std::uint64_t, std::uint64_t) { ++met; });
    ASSERT_EQ(met, count);
    for (std::uint64_t k = 100; k < 100 + count; ++k) ASSERT_EQ(m.find(k), k) << count;
    ASSERT_TRUE(m.insert(1000, 1));
  }
}

/// Who follows such a unit finds its entries in the index after the next: at every step of the mover.
TEST(units, that_go_one_index_further_are_followed) {
  for (std::uint64_t i = 0;; ++i) {
    cubby::map<std::uint64_t, std::uint64_t, cubby::dlht, pair_hash> m(tiny_options());
    ASSERT_TRUE(m.reserve(40));
    for (std::uint64_t k = 100; k < 116; ++k) ASSERT_TRUE(m.insert(k, k));
    scheduler turns;
    const auto mover = turns.start([&] { ASSERT_TRUE(m.shrink_to_fit()); });
    const auto looker = turns.start([&] {
      for (std::uint64_t k = 100; k < 116; ++k) ASSERT_EQ(m.find(k), k) << "stopped at " << i;
      ASSERT_FALSE(m.insert(103, 1)) << "stopped at " << i;
      ASSERT_TRUE(m.assign(104, 104)) << "stopped at " << i;
      ASSERT_TRUE(m.erase(105)) << "stopped at " << i;
    });
    const bool last = turns.run(mover, i) == scheduler::stopped::finished;
    turns.run_until(looker, scheduler::never);
    ASSERT_TRUE(turns.finish_all());
    ASSERT_EQ(m.size(), 15u);
    if (last) return;
  }
}

} // namespace
} // namespace cubby_test
