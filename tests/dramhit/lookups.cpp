// SPDX-License-Identifier: Apache-2.0
// Many lookups at once while the table moves: a key may be in its home line or behind it, of either array. A mover stands
// still at any of its steps; keys crowd the lines, so that many are not at home.
#include <algorithm>
#include <array>
#include <vector>

#include <cubby/pipeline.hpp>

#include "engines.hpp"
#include "support/scheduler.hpp"

namespace cubby_test {
namespace {

template <class Mode>
class lookups : public ::testing::Test {};
using lookups_kinds =
    ::testing::Types<word_mode<cubby::dramhit>, text_mode<cubby::dramhit>, tuple_mode<cubby::dramhit_tuples>>;
TYPED_TEST_SUITE(lookups, lookups_kinds);

constexpr std::uint64_t crowd = 46; // in 62 or 64 slots; somewhat more would be crowded enough to move
constexpr std::uint64_t asked = crowd + 10;

table_options crowded_options() {
  table_options o = tiny_options();
  o.capacity = crowd;
  return o;
}

/// How many keys were found with their own value; another number than `crowd` if an absent one was found.
template <class Mode>
std::uint64_t in_a_batch(typename Mode::map& m) {
  std::vector<typename Mode::key_type> keys;
  for (std::uint64_t n = 0; n < asked; ++n) keys.push_back(Mode::key(n));
  std::vector<typename Mode::mapped_type> values(asked, Mode::value(0));
  std::array<bool, asked> found{};
  if (m.find_batch(keys, values, found) != crowd) return 0;
  std::uint64_t right = 0;
  for (std::uint64_t n = 0; n < crowd; ++n) right += found[n] && Mode::number(values[n]) == n ? 1 : 0;
  return right;
}
template <class Mode>
std::uint64_t in_a_pipeline(typename Mode::map& m) {
  std::uint64_t right = 0;
  std::uint64_t answered = 0;
  auto pending = m.handle().pipeline();
  const auto look = [&](const auto& r) {
    ++answered;
    right += r.tag < crowd && r.value.has_value() && Mode::number(*r.value) == r.tag ? 1 : 0;
    right -= r.tag >= crowd && r.value.has_value() ? 1 : 0;
  };
  for (std::uint64_t n = 0; n < asked; ++n) pending.submit({cubby::verb::find, Mode::key(n), {}, n}, look);
  pending.drain(look);
  return answered == asked ? right : 0;
}

TYPED_TEST(lookups, of_many_keys_miss_none_while_a_mover_stands_still_at_any_step) {
  for (std::uint64_t i = 0;; i += 1 + cubby::detail::cpu::thread_sanitizer * 16) {
    typename TypeParam::map m(crowded_options());
    for (std::uint64_t n = 0; n < crowd; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
    ASSERT_EQ(m.stats().growths, 0U);
    scheduler turns;
    const auto mover = turns.start([&] { ASSERT_TRUE(m.reserve(100)); });
    const bool last = turns.run(mover, i) == scheduler::stopped::finished;
    EXPECT_EQ(in_a_batch<TypeParam>(m), crowd) << "stopped at " << i;
    EXPECT_EQ(in_a_pipeline<TypeParam>(m), crowd) << "stopped at " << i;
    ASSERT_TRUE(turns.finish_all());
    if (last || ::testing::Test::HasFailure()) return;
  }
}

} // namespace
} // namespace cubby_test
