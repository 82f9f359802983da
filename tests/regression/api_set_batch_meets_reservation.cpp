// SPDX-License-Identifier: Apache-2.0
// A set's insert_or_assign in a batch met a key that another call had only reserved, and answered `done`. An abort of
// the reservation then left the set without a key that it had just promised. It has to wait for the reservation's end.
#include <atomic>
#include <string>
#include <thread>

#include "engines.hpp"
#include "support/hooks.hpp"

namespace cubby_test {
namespace {

template <class Set>
class set_batch : public ::testing::Test {};
template <class Line>
using sets_of =
    types_if<Line::records && Line::shared && Line::capabilities.shadow_insert && Line::capabilities.ordered_batch,
             cubby::set<std::uint64_t, typename Line::engine>, cubby::set<std::string, typename Line::engine>>;
using sets = join_over<sets_of, listed_engines>;
TYPED_TEST_SUITE(set_batch, sets);

TYPED_TEST(set_batch, waits_for_the_end_of_a_reservation) {
  for (const bool commit : {false, true}) {
    TypeParam s(tiny_options());
    const typename TypeParam::key_type key{};
    auto reserved = s.shadow_insert(key);
    ASSERT_TRUE(static_cast<bool>(reserved));
    std::atomic<std::uint64_t> waits{0};
    std::atomic<bool> ended{false};
    std::thread other([&] {
      const wait_counter w(waits);
      const typename TypeParam::request_type wanted[] = {{cubby::verb::insert_or_assign, key}};
      typename TypeParam::reply_type answers[1];
      s.execute(wanted, answers);
      EXPECT_EQ(answers[0].result, cubby::outcome::done);
      ended.store(true);
    });
    EXPECT_TRUE(eventually([&] { return waits.load() != 0 || ended.load(); }));
    EXPECT_FALSE(ended.load()) << "done, although the key is only reserved";
    commit ? reserved.commit() : reserved.abort();
    other.join();
    EXPECT_TRUE(s.contains(key)) << (commit ? "after a commit" : "after an abort");
    EXPECT_EQ(s.size(), 1u);
  }
}

} // namespace
} // namespace cubby_test
