// SPDX-License-Identifier: Apache-2.0
// Guarantee A across keys: histories of calls on a few keys, judged for all keys at once, each thread's calls in its order. Calls
// go by groups, with a stamp before and behind a group and nothing inside it. So neither stamps nor hooks give a store the time
// to be seen before the next call of its thread.
#include <chrono>
#include <vector>

#include "engines.hpp"
#include "linearizability/checker.hpp"
#include "linearizability/client.hpp"
#include "support/two_keys.hpp"

namespace cubby_test {
namespace {

/// Two threads that begin each group together.
template <class Coding>
std::vector<record> record_groups(std::uint64_t keys, std::uint64_t groups, std::uint64_t salt) {
  constexpr std::size_t longest = 4;
  constexpr verb verbs[] = {verb::find, verb::find, verb::insert, verb::assign, verb::put, verb::extract};
  typename Coding::map m;
  trace traces[2] = {{0, groups * longest}, {1, groups * longest}};
  loose_meeting door;
  run_threads(2, [&](unsigned me) {
    client<Coding> caller(m, traces[me]);
    random_source random(salt * 2 + me);
    std::vector<record> group;
    for (std::uint64_t g = 0; g < groups; ++g) {
      group.assign(2 + random.below(longest - 1), {});
      for (record& r : group) {
        r.what = verbs[random.below(std::size(verbs))];
        r.key = 100 + random.below(keys);
        if (r.what != verb::find && r.what != verb::extract) r.argument = traces[me].fresh_value();
      }
      (void)door.wait(me);
      caller.one_by_one(group);
    }
  });
  std::vector<record> all;
  for (const trace& t : traces) {
    if (t.overflowed()) return {};
    all.insert(all.end(), t.records().begin(), t.records().end());
  }
  return all;
}

template <class Coding>
class linearizability_of_the_whole_map : public ::testing::Test {};
template <class Line>
using whole_map_codings_of = join<types_if<Line::records && Line::shared, word_coding<typename Line::engine>>,
                                  types_if<(Line::records && Line::shared && !Line::lookups_lock) || Line::tuples,
                                           record_coding<typename Line::engine>>>;
using whole_map_codings = join_over<whole_map_codings_of, listed_engines>;
TYPED_TEST_SUITE(linearizability_of_the_whole_map, whole_map_codings);

TYPED_TEST(linearizability_of_the_whole_map, keeps_the_order_of_each_threads_calls) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(scaled(300));
  for (std::uint64_t salt = 1; salt == 1 || std::chrono::steady_clock::now() < end; ++salt) {
    const auto history = record_groups<TypeParam>(2 + salt % 2, 100, salt);
    ASSERT_GE(history.size(), 200u * 2);
    const finding f = check_together(history);
    ASSERT_EQ(f.what, judgement::linearizable) << f.text;
  }
}

/// The history that a store buffer makes: each thread changes one key and misses the change of the other.
TEST(linearizability_of_the_whole_map, refuses_two_threads_that_miss_each_other) {
  std::vector<record> all(4);
  for (std::size_t i = 0; i < 4; ++i) {
    record& r = all[i];
    r.thread = static_cast<std::uint16_t>(i / 2);
    r.what = i % 2 == 0 ? verb::insert : verb::find;
    r.ok = i % 2 == 0;
    r.key = i == 0 || i == 3 ? 1 : 2;
    r.argument = 5;
    r.group = grouping::ordered;
    r.position = static_cast<std::uint16_t>(i % 2);
    r.called = 10;
    r.returned = 20;
  }
  EXPECT_EQ(check_history(all).what, judgement::linearizable) << "each key alone has an order";
  EXPECT_EQ(check_together(all).what, judgement::refused);
  all[3].ok = true;
  all[3].result = 5;
  EXPECT_EQ(check_together(all).what, judgement::linearizable);
}

} // namespace
} // namespace cubby_test
