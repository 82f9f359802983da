// SPDX-License-Identifier: Apache-2.0
// Guarantee P inside the verbs: a thread that stands still at any atomic step. In the middle of a bin's transfer it holds
// up that bin alone; everywhere else it holds up no thread, but inserts of the very key that it is inserting.
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "engines.hpp"
#include "support/hooks.hpp"
#include "support/scheduler.hpp"

namespace cubby_test {
namespace {

template <class Mode>
class stalled : public ::testing::Test {};
/// DLHT alone moves a bin by 16-byte swaps, and lets its keys wait meanwhile. The movers of others: stalled_mover.cpp, dramhit/changes.cpp,
/// iceberg/moving_entries.cpp, relativistic/parked_writer.cpp, explore/scenarios_seph.cpp.
using stalled_modes = ::testing::Types<word_mode<cubby::dlht>, text_mode<cubby::dlht>>;
TYPED_TEST_SUITE(stalled, stalled_modes);

constexpr unsigned crowd = 32;
constexpr std::uint64_t keys_before = 400;

/// Parks a thread that grows the table inside the transfer of one bin: before its first capture of an entry. Only
/// captures use the 16-byte swap on keys that are not the thread's own, so the insert is kept from any other.
template <class Mode, class Others>
void while_a_mover_stands(cubby::growth_policy growth, std::vector<std::thread>& waiting, Others others) {
  typename Mode::map m(tiny_options(growth));
  for (std::uint64_t n = 0; n < keys_before; ++n) ASSERT_TRUE(m.insert(Mode::key(n), Mode::value(n)));
  m.reserve(1); // ends a growth that is still under way
  m.shrink_to_fit();
  parking spot;
  std::thread mover([&] {
    park_before parked(spot, [](step kind, const void*) { return kind == step::rmw16; });
    m.reserve(4 * keys_before);
  });
  EXPECT_TRUE(spot.wait_until_parked());
  others(m);
  spot.release();
  mover.join();
  for (auto& t : waiting) t.join();
  for (std::uint64_t n = 0; n < keys_before; ++n) ASSERT_EQ(Mode::number(*m.find(Mode::key(n))), n);
}

TYPED_TEST(stalled, in_a_transfer_holds_up_the_keys_of_one_bin_only) {
  for (const auto growth : {cubby::growth_policy::cooperative, cubby::growth_policy::incremental}) {
    std::atomic<unsigned> ended{0};
    std::vector<std::thread> finders;
    while_a_mover_stands<TypeParam>(growth, finders, [&](auto& m) {
      for (unsigned t = 0; t < crowd; ++t) {
        finders.emplace_back([&m, &ended, t] {
          for (std::uint64_t n = t; n < keys_before; n += crowd) {
            EXPECT_EQ(TypeParam::number(*m.find(TypeParam::key(n))), n);
            EXPECT_FALSE(m.insert(TypeParam::key(n), TypeParam::value(0)));
          }
          ended.fetch_add(1);
        });
      }
      // At most fifteen entries share a bin, in most tables far fewer.
      EXPECT_TRUE(eventually([&] { return ended.load() >= crowd - 15; })) << ended.load() << " of " << crowd;
      EXPECT_LT(ended.load(), crowd) << "another thread asks for the bin that is in transfer";
    });
    EXPECT_EQ(ended.load(), crowd);
  }
}

TYPED_TEST(stalled, in_a_transfer_does_not_stop_growth) {
  for (const auto growth : {cubby::growth_policy::cooperative, cubby::growth_policy::incremental}) {
    std::atomic<unsigned> ended{0};
    std::atomic<std::uint64_t> inserted{0};
    std::vector<std::thread> inserters;
    while_a_mover_stands<TypeParam>(growth, inserters, [&](auto& m) {
      for (unsigned t = 0; t < crowd; ++t) {
        inserters.emplace_back([&m, &ended, &inserted, t] {
          for (std::uint64_t n = 0; n < 20; ++n) {
            EXPECT_TRUE(m.insert(TypeParam::key(10000 + t * 100 + n), TypeParam::value(n)));
            inserted.fetch_add(1);
          }
          ended.fetch_add(1);
        });
      }
      EXPECT_TRUE(eventually([&] { return ended.load() >= crowd / 2; })) << ended.load() << " of " << crowd;
    });
    EXPECT_EQ(inserted.load(), crowd * 20);
  }
}

/// The table's own thread stands still before one of its first steps: before it has moved anything, or with a bin of its
/// own. Then others move the bins that they need, and grow the table further; only that bin's keys have to wait.
TYPED_TEST(stalled, in_the_background_does_not_stop_growth) {
  for (const std::uint64_t step_number : {1u, 2u, 4u, 7u, 11u, 16u, 22u, 29u, 37u, 46u, 56u, 67u}) {
    parking spot;
    park_before helper(spot, [left = step_number](step, const void*) mutable { return --left == 0; });
    const quiet no_stranger;
    typename TypeParam::map m(tiny_options(cubby::growth_policy::background));
    for (std::uint64_t n = 0; n < keys_before; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    ASSERT_TRUE(m.reserve(1)); // ends a growth that is still under way
    const std::uint64_t growths = m.stats().growths;
    watcher::of_strangers().store(&helper);
    std::atomic<unsigned> ended{0};
    std::vector<std::thread> users;
    for (unsigned t = 0; t < crowd; ++t) {
      users.emplace_back([&m, &ended, t] {
        const quiet no_stranger_either;
        auto h = m.handle(); // given back while the thread still is no stranger
        for (std::uint64_t n = t; n < 3 * keys_before; n += crowd) {
          EXPECT_TRUE(h.insert(TypeParam::key(10000 + n), TypeParam::value(n)));
          EXPECT_TRUE(h.contains(TypeParam::key(n % keys_before)));
        }
        ended.fetch_add(1);
      });
    }
    EXPECT_TRUE(spot.wait_until_parked());
    // A bin holds a few of the keys_before, and a few of the inserts wait for it.
    EXPECT_TRUE(eventually([&] { return ended.load() >= crowd / 4; })) << ended.load() << " of " << crowd;
    spot.release();
    for (auto& t : users) t.join();
    watcher::of_strangers().store(nullptr);
    EXPECT_GT(m.stats().growths, growths);
    for (std::uint64_t n = 0; n < keys_before; ++n) ASSERT_EQ(TypeParam::number(*m.find(TypeParam::key(n))), n);
    for (std::uint64_t n = 0; n < 3 * keys_before; ++n) {
      ASSERT_EQ(TypeParam::number(*m.find(TypeParam::key(10000 + n))), n);
    }
    EXPECT_EQ(m.size(), 4 * keys_before);
    if (::testing::Test::HasFailure()) return;
  }
}

/// One thread stops before its i-th step; another does everything to other keys of the same bin, and must not wait.
template <class Map, class Value>
void any_step_holds_up_nobody(const std::function<void(Map&)>& verb, Value value) {
  for (std::uint64_t at = 1;; ++at) {
    Map m(tiny_options());
    for (std::uint64_t k = 0; k < 4; ++k) ASSERT_TRUE(m.insert(k, value(k)));
    scheduler turns;
    const auto still = turns.start([&] { verb(m); });
    const auto other = turns.start([&] {
      ASSERT_TRUE(m.insert(5, value(5)));
      ASSERT_TRUE(m.assign(2, value(12)));
      ASSERT_TRUE(m.update(2, [&](const auto&) { return value(13); }));
      ASSERT_TRUE(m.erase(3));
      ASSERT_TRUE(m.insert(3, value(3)));
      ASSERT_TRUE(m.extract(5).has_value());
      ASSERT_TRUE(m.contains(2));
      (void)m.contains(1); // the key of the one that stands still
    });
    const bool ended = turns.run(still, at) == scheduler::stopped::finished;
    ASSERT_EQ(turns.run_until(other, scheduler::never), scheduler::stopped::finished)
        << "another thread has to wait for a thread that stands before its step " << at;
    ASSERT_TRUE(turns.finish_all());
    if (ended) return;
  }
}

struct one_bin_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t) const noexcept { return 7; }
};

template <class Engine, class V, class Value>
void every_verb_at_any_step(Value value) {
  using map = cubby::map<std::uint64_t, V, Engine, one_bin_hash>;
  any_step_holds_up_nobody<map>([&](map& m) { m.insert(9, value(1)); }, value);
  any_step_holds_up_nobody<map>([&](map& m) { m.assign(1, value(1)); }, value);
  any_step_holds_up_nobody<map>([&](map& m) { m.erase(1); }, value);
  any_step_holds_up_nobody<map>([&](map& m) { (void)m.extract(1); }, value);
  any_step_holds_up_nobody<map>([&](map& m) { (void)m.find(1); }, value);
  any_step_holds_up_nobody<map>([&](map& m) { m.insert_or_assign(9, value(1)); }, value);
  any_step_holds_up_nobody<map>([&](map& m) { m.update(1, [&](const V&) { return value(2); }); }, value);
  if constexpr (map::capabilities.shadow_insert) {
    any_step_holds_up_nobody<map>(
        [&](map& m) {
          auto r = m.shadow_insert(9, value(1));
          r.commit();
        },
        value);
  }
}

/// Asked of the engines that claim inserts without a lock: in the others, a thread that stands still may hold one.
template <class Engine>
class stalled_at_any_step : public ::testing::Test {
  void SetUp() override {
    if (!cubby::map<std::uint64_t, std::uint64_t, Engine>::capabilities.lock_free_insert)
      GTEST_SKIP() << "its writers hold locks";
  }
};
TYPED_TEST_SUITE(stalled_at_any_step, shared_engines);
template <class Engine>
inline constexpr bool inserts_without_lock = cubby::map<int, int, Engine>::capabilities.lock_free_insert;
static_assert(inserts_without_lock<cubby::dlht> && inserts_without_lock<cubby::dramhit> &&
                  inserts_without_lock<cubby::seph>,
              "their tests would be skipped");

TYPED_TEST(stalled_at_any_step, holds_up_nobody_in_tables_of_words) {
  every_verb_at_any_step<TypeParam, std::uint64_t>([](std::uint64_t n) { return n; });
}
TYPED_TEST(stalled_at_any_step, holds_up_nobody_in_tables_of_records) {
  every_verb_at_any_step<TypeParam, wide_value>([](std::uint64_t n) { return wide_value{n, ~n, n}; });
}

} // namespace
} // namespace cubby_test
