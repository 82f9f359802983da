// SPDX-License-Identifier: Apache-2.0
// What requests mean where there is nothing to assign or to add: sets, and values without a sum. The same in batches and in
// pipelines.
#include <cubby/pipeline.hpp>
#include <cubby/set.hpp>

#include "engines.hpp"

namespace cubby_test {
namespace {

using cubby::outcome;

/// What each verb answers about a key that is absent, and then about one that is there.
constexpr std::pair<cubby::verb, outcome> of_sets[] = {{cubby::verb::assign, outcome::absent},
                                                       {cubby::verb::insert_or_add, outcome::not_executed},
                                                       {cubby::verb::find, outcome::absent},
                                                       {cubby::verb::insert_or_assign, outcome::done},
                                                       {cubby::verb::insert_or_assign, outcome::done},
                                                       {cubby::verb::insert, outcome::exists},
                                                       {cubby::verb::assign, outcome::done},
                                                       {cubby::verb::insert_or_add, outcome::not_executed},
                                                       {cubby::verb::find, outcome::done},
                                                       {cubby::verb::erase, outcome::done},
                                                       {cubby::verb::erase, outcome::absent},
                                                       {cubby::verb::insert, outcome::done}};

/// The answers of a batch, and of a pipeline that waits for each of them.
template <class Table, class Requests> std::vector<outcome> answers_of_a_batch(const Requests& asked) {
  Table t(tiny_options());
  std::vector<typename Table::reply_type> replies(asked.size());
  EXPECT_EQ(t.execute(asked, replies), asked.size());
  std::vector<outcome> answers;
  for (const auto& r : replies) answers.push_back(r.result);
  return answers;
}
template <class Table, class Requests> std::vector<outcome> answers_of_a_pipeline(const Requests& asked) {
  Table t(tiny_options());
  std::vector<outcome> answers;
  auto h = t.handle();
  auto p = h.pipeline([&](auto&& r) { answers.push_back(r.result); });
  for (const auto& r : asked) {
    p.submit(r);
    p.drain();
  }
  return answers;
}

template <class Engine>
class d_requests_of_sets : public ::testing::Test {};
TYPED_TEST_SUITE(d_requests_of_sets, every_plain_engine);

TYPED_TEST(d_requests_of_sets, ask_only_whether_the_key_is_there) {
  using set = cubby::set<std::uint64_t, TypeParam>;
  std::vector<typename set::request_type> asked;
  std::vector<outcome> wanted;
  for (const auto& [what, how] : of_sets) {
    asked.push_back({what, 7});
    wanted.push_back(how);
  }
  EXPECT_EQ(answers_of_a_batch<set>(asked), wanted);
  if constexpr (set::capabilities.pipelined) {
    EXPECT_EQ(answers_of_a_pipeline<set>(asked), wanted);
  }
}

/// A value that is copied like memory and has no sum.
struct value_without_a_sum {
  std::uint32_t number;
  bool operator==(const value_without_a_sum&) const = default;
};

TYPED_TEST(d_requests_of_sets, that_add_what_has_no_sum_change_nothing) {
  using map = cubby::map<std::uint64_t, value_without_a_sum, TypeParam>;
  const std::vector<typename map::request_type> asked{{cubby::verb::insert_or_add, 1, {5}},
                                                      {cubby::verb::find, 1, {}},
                                                      {cubby::verb::insert, 1, {6}},
                                                      {cubby::verb::insert_or_add, 1, {5}},
                                                      {cubby::verb::erase, 1, {}}};
  const std::vector<outcome> wanted{outcome::not_executed, outcome::absent, outcome::done, outcome::not_executed,
                                    outcome::done};
  EXPECT_EQ(answers_of_a_batch<map>(asked), wanted);
  if constexpr (map::capabilities.pipelined) {
    EXPECT_EQ(answers_of_a_pipeline<map>(asked), wanted);
  }
}

} // namespace
} // namespace cubby_test
