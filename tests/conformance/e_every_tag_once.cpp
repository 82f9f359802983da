// SPDX-License-Identifier: Apache-2.0
// Guarantee E: every request that a pipeline has taken is answered exactly once, with its own tag and the answer that the
// verb has. That holds for any window and any space for replies, and whatever the table does meanwhile.
#include <cubby/pipeline.hpp>

#include <unordered_map>

#include "engines.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

using cubby::outcome;

template <class Mode>
class e_every_tag_once : public ::testing::Test {};
TYPED_TEST_SUITE(e_every_tag_once, pipelined_modes);

template <class Mode>
using pipe = typename Mode::map::handle_type::template pipeline_type<>;

/// Hands requests in, takes replies as they come, and remembers what each tag was answered.
template <class Mode>
class correspondent {
public:
  correspondent(typename Mode::map& m, cubby::pipeline_options o, std::size_t space)
      : pipe_(m.handle().pipeline(o)), out_(space) {}

  void send(const std::vector<typename pipe<Mode>::request_type>& all) {
    std::span<const typename pipe<Mode>::request_type> rest(all);
    while (!rest.empty()) {
      const auto p = pipe_.submit(rest, out_);
      note(p.answered);
      rest = rest.subspan(p.taken);
      ASSERT_TRUE(p.taken != 0 || p.answered != 0) << "a full window and space for replies, and nothing moves";
    }
  }
  void poll() { note(pipe_.poll(out_)); }
  void drain() {
    while (pipe_.pending() != 0) {
      const std::size_t n = pipe_.drain(out_);
      ASSERT_NE(n, 0u);
      note(n);
    }
  }
  std::unordered_map<std::uint64_t, typename pipe<Mode>::reply_type> answers;
  unsigned twice = 0;

private:
  void note(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      if (!answers.emplace(out_[i].tag, out_[i]).second) ++twice;
    }
  }
  pipe<Mode> pipe_;
  std::vector<typename pipe<Mode>::reply_type> out_;
};

TYPED_TEST(e_every_tag_once, at_any_window_batch_and_capacity) {
  const std::vector<cubby::pipeline_options> all_options = {{1}, {2}, {7}, {32}, {200}, {7, 1}, {7, 7}, {32, 1000}};
  for (const auto& options : all_options) {
    for (const std::size_t space : {1u, 3u, 64u, 1000u}) {
      typename TypeParam::map m(tiny_options());
      correspondent<TypeParam> c(m, options, space);
      std::vector<typename pipe<TypeParam>::request_type> all;
      for (std::uint64_t n = 0; n < 500; ++n)
        all.push_back({cubby::verb::insert, TypeParam::key(n), TypeParam::value(n), n});
      c.send(all);
      c.poll();
      c.drain();
      ASSERT_EQ(c.answers.size(), 500u) << options.window << ' ' << options.batch << ' ' << space;
      ASSERT_EQ(c.twice, 0u);
      for (const auto& [tag, r] : c.answers) ASSERT_EQ(r.result, outcome::done) << tag;
      ASSERT_EQ(m.size(), 500u);
    }
  }
}

/// What a request has to be answered, from a model of the table that it changes.
struct wanted_answer {
  outcome result = outcome::done;
  std::optional<std::uint64_t> value{};
};
using model = std::unordered_map<std::uint64_t, std::uint64_t>;

wanted_answer answer_of(model& m, cubby::verb what, std::uint64_t k, std::uint64_t v) {
  const auto at = m.find(k);
  const bool there = at != m.end();
  switch (what) {
  case cubby::verb::insert:
    if (there) return {outcome::exists};
    m[k] = v;
    return {};
  case cubby::verb::insert_or_assign: m[k] = v; return {};
  case cubby::verb::insert_or_add: m[k] += v; return {};
  default: break;
  }
  if (!there) return {outcome::absent};
  const std::uint64_t before = at->second;
  if (what == cubby::verb::assign) at->second = v;
  if (what == cubby::verb::erase) m.erase(at);
  if (what == cubby::verb::assign) return {};
  return {outcome::done, before};
}

TYPED_TEST(e_every_tag_once, each_verb_answers_as_it_does_elsewhere) {
  random_source random(300);
  typename TypeParam::map m(tiny_options());
  model expected;
  correspondent<TypeParam> c(m, {16}, 5);
  std::uint64_t tag = 0;
  for (unsigned round = 0; round < 400; ++round) {
    // Different keys in a round: requests on one key may overtake each other.
    std::vector<typename pipe<TypeParam>::request_type> all;
    std::unordered_map<std::uint64_t, wanted_answer> wanted;
    for (std::uint64_t k = random.below(3); k < 60; k += 1 + random.below(5)) {
      const auto what = static_cast<cubby::verb>(random.below(6));
      if (what == cubby::verb::insert_or_add && !std::is_integral_v<typename TypeParam::map::mapped_type>) continue;
      const std::uint64_t v = random.below(1000);
      wanted[tag] = answer_of(expected, what, k, v);
      all.push_back({what, TypeParam::key(k), TypeParam::value(v), tag++});
    }
    c.send(all);
    c.drain();
    for (const auto& [t, want] : wanted) {
      ASSERT_EQ(c.answers.count(t), 1u);
      ASSERT_EQ(c.answers[t].result, want.result) << t;
      ASSERT_EQ(c.answers[t].value.has_value(), want.value.has_value()) << t;
      if (want.value) {
        ASSERT_EQ(TypeParam::number(*c.answers[t].value), *want.value) << t;
      }
    }
  }
  ASSERT_EQ(c.twice, 0u);
  ASSERT_EQ(m.size(), expected.size());
}

template <class Pipeline, class Key, class Value>
void call(Pipeline& p, cubby::verb what, const Key& key, const Value& value, std::uint64_t tag) {
  switch (what) {
  case cubby::verb::find: p.find(key, tag); break;
  case cubby::verb::insert: p.insert(key, value, tag); break;
  case cubby::verb::assign: p.assign(key, value, tag); break;
  case cubby::verb::insert_or_assign: p.insert_or_assign(key, value, tag); break;
  case cubby::verb::insert_or_add:
    if constexpr (requires { p.insert_or_add(key, value, tag); }) p.insert_or_add(key, value, tag);
    break;
  case cubby::verb::erase: p.erase(key, tag); break;
  }
}

/// The verbs as calls, their answers to one function.
TYPED_TEST(e_every_tag_once, calls_of_a_handles_pipeline_answer_to_its_sink) {
  random_source random(301);
  typename TypeParam::map m(tiny_options());
  model expected;
  std::unordered_map<std::uint64_t, wanted_answer> wanted;
  const auto sink = [&](auto&& r) {
    const auto at = wanted.find(r.tag);
    ASSERT_NE(at, wanted.end()) << "no such tag, or answered before";
    EXPECT_EQ(r.result, at->second.result);
    ASSERT_EQ(r.value.has_value(), at->second.value.has_value());
    if (r.value) {
      EXPECT_EQ(TypeParam::number(*r.value), *at->second.value);
    }
    wanted.erase(at);
  };
  auto p = m.handle().pipeline(sink, {.window = 4});
  std::uint64_t tag = 0;
  for (unsigned round = 0; round < 200; ++round) {
    for (std::uint64_t k = random.below(3); k < 60; k += 1 + random.below(5)) {
      const auto what = static_cast<cubby::verb>(random.below(6));
      if (what == cubby::verb::insert_or_add && !std::is_integral_v<typename TypeParam::map::mapped_type>) continue;
      const std::uint64_t v = random.below(1000);
      wanted[tag] = answer_of(expected, what, k, v);
      const auto key = TypeParam::key(k);
      const auto value = TypeParam::value(v);
      call(p, what, key, value, tag++);
    }
    p.drain();
    ASSERT_EQ(p.pending(), 0u);
    ASSERT_TRUE(wanted.empty()) << "a request was not answered";
  }
  ASSERT_EQ(m.size(), expected.size());
}

TEST(e_every_tag_once_of_sets, calls_of_a_handles_pipeline_answer_to_its_sink) {
  cubby::set<std::uint64_t, cubby::dramhit> s;
  std::vector<outcome> answers(4, outcome::not_executed);
  auto p = s.handle().pipeline([&](auto&& r) { answers[r.tag] = r.result; });
  p.insert(7, 0);
  p.drain();
  p.find(7, 1);
  p.find(8, 2);
  p.drain();
  p.erase(7, 3);
  p.drain();
  EXPECT_EQ(answers, (std::vector{outcome::done, outcome::done, outcome::absent, outcome::done}));
  EXPECT_EQ(s.size(), 0u);
}

/// A pipeline has no thread record of its own: while a request is pending, its handle's is held, and others are not.
TYPED_TEST(e_every_tag_once, a_pipeline_uses_the_record_of_its_handle) {
  typename TypeParam::map m(tiny_options());
  ASSERT_TRUE(m.insert(TypeParam::key(1), TypeParam::value(1)));
  std::size_t answers = 0;
  auto h = m.handle();
  auto other = m.handle();
  auto p = h.pipeline([&](auto&&) { ++answers; });
  EXPECT_FALSE(cubby::detail::registry::is_held(*h.own_thread_record()));
  p.find(TypeParam::key(1), 0);
  EXPECT_TRUE(cubby::detail::registry::is_held(*h.own_thread_record()));
  EXPECT_FALSE(cubby::detail::registry::is_held(*other.own_thread_record()));
  EXPECT_TRUE(h.contains(TypeParam::key(1))) << "the handle works meanwhile";
  EXPECT_TRUE(h.erase(TypeParam::key(1)));
  p.drain();
  EXPECT_EQ(answers, 1u);
  EXPECT_FALSE(cubby::detail::registry::is_held(*h.own_thread_record()));
}

/// It keeps the record claimed, so that a later handle gets another one.
TYPED_TEST(e_every_tag_once, a_pipeline_outlives_its_handle) {
  typename TypeParam::map m(tiny_options());
  std::size_t answers = 0;
  auto h = std::make_optional(m.handle());
  cubby::detail::thread_record* const record = h->own_thread_record();
  {
    auto p = h->pipeline([&](auto&&) { ++answers; });
    p.insert(TypeParam::key(1), TypeParam::value(1), 0);
    h.reset();
    auto next = m.handle();
    EXPECT_NE(next.own_thread_record(), record);
    p.find(TypeParam::key(1), 1);
    p.drain();
    EXPECT_EQ(answers, 2u);
    EXPECT_TRUE(next.contains(TypeParam::key(1)));
  }
  auto after = m.handle();
  EXPECT_EQ(after.own_thread_record(), record) << "given back with the pipeline";
}

/// The window is longer than a pin lasts, and others make the table grow, shrink and free what it had.
TYPED_TEST(e_every_tag_once, while_the_table_grows_and_shrinks) {
  typename TypeParam::map m(tiny_options());
  constexpr std::uint64_t kept = 200;
  for (std::uint64_t n = 0; n < kept; ++n) ASSERT_TRUE(m.insert(TypeParam::key(n), TypeParam::value(n)));
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) {
      for (std::uint64_t n = kept; n < 3 * kept; ++n) m.insert(TypeParam::key(n), TypeParam::value(n));
      for (std::uint64_t n = kept; n < 3 * kept; ++n) m.erase(TypeParam::key(n));
      m.shrink_to_fit();
    }
  });
  {
    auto p = m.handle().pipeline({.window = 64});
    std::uint64_t right = 0;
    const auto sink = [&](auto&& r) {
      right += r.result == outcome::done && TypeParam::number(*r.value) == r.tag % kept ? 1 : 0;
    };
    constexpr std::uint64_t finds = 20000;
    for (std::uint64_t n = 0; n < finds; ++n)
      p.submit({cubby::verb::find, TypeParam::key(n % kept), TypeParam::value(0), n}, sink);
    p.drain(sink);
    EXPECT_EQ(right, finds);
  }
  stop = true;
  other.join();
}

TYPED_TEST(e_every_tag_once, a_full_table_is_an_answer) {
  table_options o = tiny_options(cubby::growth_policy::fixed);
  typename TypeParam::map m(o);
  correspondent<TypeParam> c(m, {8}, 8);
  std::vector<typename pipe<TypeParam>::request_type> all;
  for (std::uint64_t n = 0; n < 300; ++n)
    all.push_back({cubby::verb::insert, TypeParam::key(n), TypeParam::value(n), n});
  c.send(all);
  c.drain();
  std::uint64_t done = 0, full = 0;
  for (const auto& [tag, r] : c.answers) {
    done += r.result == outcome::done ? 1 : 0;
    full += r.result == outcome::full ? 1 : 0;
  }
  EXPECT_EQ(done + full, 300u);
  EXPECT_EQ(done, m.size());
  EXPECT_GT(full, 0u);
}

/// What nobody drained is carried out when the pipeline goes.
TYPED_TEST(e_every_tag_once, what_is_pending_at_the_end_is_carried_out) {
  typename TypeParam::map m(tiny_options());
  {
    auto p = m.handle().pipeline({.window = 100});
    const auto sink = [](auto&&) { FAIL() << "the window is not full"; };
    for (std::uint64_t n = 0; n < 50; ++n)
      p.submit({cubby::verb::insert, TypeParam::key(n), TypeParam::value(n), n}, sink);
    EXPECT_EQ(p.pending(), 50u);
  }
  EXPECT_EQ(m.size(), 50u);
}

} // namespace
} // namespace cubby_test
