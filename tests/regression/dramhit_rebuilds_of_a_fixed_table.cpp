// SPDX-License-Identifier: Apache-2.0
// What calls do beside a rebuild of a DRAMHiT table. Those of a `fixed` table are not refused below its bound because
// entries are still on their way. Writes do not ask each time whether a pin has gone.
#include <atomic>
#include <thread>

#include "engines.hpp"
#include "support/hooks.hpp"

namespace cubby_test {
namespace {

template <class Mode>
class regression_dramhit_rebuilds : public ::testing::Test {};
using engines_of_arrays = ::testing::Types<word_mode<cubby::dramhit>, tuple_mode<cubby::dramhit_tuples>>;
TYPED_TEST_SUITE(regression_dramhit_rebuilds, engines_of_arrays);

/// In 64 slots, of which 60 may be in use: 48 entries leave no more than a rebuild keeps free for moves, and 58 less.
TYPED_TEST(regression_dramhit_rebuilds, of_a_fixed_table_refuse_nothing_below_its_bound) {
  for (const std::uint64_t entries : {40u, 48u}) {
    table_options o = tiny_options(cubby::growth_policy::fixed);
    o.capacity = 48;
    typename TypeParam::map m(o);
    for (std::uint64_t n = 0; n < entries; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    for (std::uint64_t n = entries; n < 5000; ++n) {
      ASSERT_TRUE(m.erase(TypeParam::key(n - entries)));
      ASSERT_EQ(m.try_insert(TypeParam::key(n), TypeParam::value(n)), cubby::outcome::inserted) << n;
    }
    EXPECT_GT(m.stats().rebuilds, 0u);
  }
}

/// Counts the fences that its thread asks for.
class fence_counter final : public watcher {
public:
  void before(step kind, const void*) override { seen += kind == step::fence ? 1 : 0; }
  std::uint64_t seen = 0;
};

/// A pin that lingers keeps an old array, and asking whether it has gone interrupts every thread.
TYPED_TEST(regression_dramhit_rebuilds, ask_for_pins_once_in_64_writes) {
  typename TypeParam::map m(tiny_options(cubby::growth_policy::incremental));
  std::atomic<bool> is_inside{false};
  const std::jthread holder([&](const std::stop_token& end) { // leaves with the test
    const cubby::detail::thread_pin lingering(*cubby::detail::registry::local());
    for (is_inside = true; !end.stop_requested();) std::this_thread::yield();
  });
  while (!is_inside) std::this_thread::yield();
  std::uint64_t n = 0;
  while (m.stats().growths < 3) {
    ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    ++n;
  }
  constexpr std::uint64_t writes = 4096;
  std::uint64_t fences = 0;
  {
    fence_counter counter;
    for (std::uint64_t i = 0; i < writes; ++i) ASSERT_TRUE(m.insert(TypeParam::key(n + i), TypeParam::value(i)));
    fences = counter.seen;
  }
  EXPECT_GT(m.stats().retired, 0u);
  EXPECT_LE(fences, writes / 64 + 1);
  EXPECT_GT(fences, 0u);
}

} // namespace
} // namespace cubby_test
