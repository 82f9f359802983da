// SPDX-License-Identifier: Apache-2.0
// Lookups as coroutines answer like find, each for its own key, while the table grows under them.
#include <atomic>
#include <optional>
#include <vector>

#include <cubby/coro.hpp>

#include "engines.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

namespace cubby_test {
namespace {

template <class Mode>
class coroutines : public ::testing::Test {};
TYPED_TEST_SUITE(coroutines, main_modes);

/// Whether the engine can ask memory for an entry ahead; without that there is nothing to wait for.
template <class Mode>
inline constexpr bool looks_up_in_tasks = claims<Mode>(&cubby::capability_set::prefetch);

template <class Mode, class Handle>
cubby::task look(Handle& h, typename Mode::key_type k, std::optional<typename Mode::mapped_type>& out, bool& ended) {
  out = co_await h.async_find(k);
  ended = true;
}

TYPED_TEST(coroutines, answer_like_find) {
  if constexpr (looks_up_in_tasks<TypeParam>) {
    typename TypeParam::map m(tiny_options());
    for (std::uint64_t n = 0; n < 500; n += 2) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    auto h = m.handle();
    for (const std::size_t width : {1u, 7u, 32u}) {
      cubby::round_robin runner(width);
      std::vector<std::optional<typename TypeParam::mapped_type>> got(500);
      const auto ended = std::make_unique<bool[]>(500);
      for (std::uint64_t n = 0; n < 500; ++n) runner.spawn(look<TypeParam>(h, TypeParam::key(n), got[n], ended[n]));
      runner.run();
      for (std::uint64_t n = 0; n < 500; ++n) {
        ASSERT_TRUE(ended[n]);
        ASSERT_EQ(got[n].has_value(), n % 2 == 0) << n;
        if (got[n]) {
          ASSERT_EQ(TypeParam::number(*got[n]), n);
        }
      }
    }
  } else {
    GTEST_SKIP() << "async_find is not of this engine";
  }
}

TYPED_TEST(coroutines, of_an_empty_runner_end_at_once) {
  cubby::round_robin runner;
  runner.run();
}

template <class Mode>
class coroutines_shared : public ::testing::Test {};
TYPED_TEST_SUITE(coroutines_shared, shared_modes);

TYPED_TEST(coroutines_shared, find_what_stays_while_the_table_grows_and_shrinks) {
  if constexpr (looks_up_in_tasks<TypeParam>) {
    typename TypeParam::map m(tiny_options());
    for (std::uint64_t n = 0; n < 100; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    std::atomic<bool> stop{false};
    run_threads(2, [&](unsigned t) {
      if (t == 0) {
        for (std::uint64_t i = 0; !stop.load(); ++i) {
          const auto k = TypeParam::key(100 + i % 1000);
          if (i / 1000 % 2 == 0) m.insert(k, TypeParam::value(i));
          else m.erase(k);
          if (i % 2000 == 1999) m.shrink_to_fit();
        }
        return;
      }
      auto h = m.handle();
      for (unsigned round = 0; round < scaled(200); ++round) {
        cubby::round_robin runner;
        std::vector<std::optional<typename TypeParam::mapped_type>> got(100);
        const auto ended = std::make_unique<bool[]>(100);
        for (std::uint64_t n = 0; n < 100; ++n) runner.spawn(look<TypeParam>(h, TypeParam::key(n), got[n], ended[n]));
        runner.run();
        for (std::uint64_t n = 0; n < 100; ++n) EXPECT_TRUE(got[n] && TypeParam::number(*got[n]) == n) << n;
      }
      stop.store(true);
    });
  } else {
    GTEST_SKIP() << "async_find is not of this engine";
  }
}

} // namespace
} // namespace cubby_test
