// SPDX-License-Identifier: Apache-2.0
// Schedules of two and three threads, explored step by step: every pair of stopping points of two scripts, and seeded
// random schedules with growth in the middle. Every history must have an order, and every schedule must end. The
// published protocol goes through the same search first, which must catch it.
#include <vector>

#include <cubby/map.hpp>

#include "dlht/paper_bin.hpp"
#include "linearizability/play.hpp"

namespace cubby_test {
namespace {

using namespace scripted;

/// `first` stands still after i steps, `second` after j, then `first` goes on to its end, then `second`.
template <class Coding>
void every_pair_of_stops(const script& prelude, const script& first, const script& second, random_source& random,
                         std::uint64_t one_in) {
  for (std::uint64_t i = 1;; ++i) {
    bool first_ended = false;
    for (std::uint64_t j = 0;; ++j) {
      if (j > 1 && !random.one_in(one_in)) continue;
      run<Coding> r(tiny_options());
      r.now(prelude);
      const auto a = r.thread(first), b = r.thread(second);
      first_ended = r.turns.run(a, i) == scheduler::stopped::finished;
      const bool second_ended = r.turns.run(b, j) != scheduler::stopped::before_step;
      r.turns.run_until(a, scheduler::never);
      const finding f = r.end(3);
      ASSERT_EQ(f.what, judgement::linearizable) << "stops " << i << " " << j << "\n" << f.text;
      if (second_ended) break;
    }
    if (first_ended) return;
  }
}

template <class Coding>
class schedules : public ::testing::Test {};
using scheduled_codings =
    ::testing::Types<word_coding<cubby::dlht, clustered_hash>, record_coding<cubby::dlht, clustered_hash>>;
TYPED_TEST_SUITE(schedules, scheduled_codings);

/// Scripts that give a slot back and take it again, with the same pair and with another.
std::vector<script> opponents() {
  return {{{act::erase}, {act::insert}, {act::find}},
          {{act::extract}, {act::insert, 1, 100}, {act::assign, 1, 5}},
          {{act::insert, 1, 7}, {act::erase}, {act::insert, 1, 8}},
          {{act::erase}, {act::insert, 2, 5}, {act::find}},
          {{act::toggle}, {act::toggle, 1, 5}, {act::find}},
          {{act::extract}, {act::commit, 1, 5}, {act::find}},
          {{act::insert}, {act::erase}, {act::abort}},
          {{act::update, 1, 9}, {act::assign, 1, 5}, {act::upsert, 1, 9}}};
}

TYPED_TEST(schedules, of_each_verb_against_scripts_that_reuse_its_slot) {
  random_source random(2000);
  for (const bool present : {true, false}) {
    for (std::size_t what = 0; what < scripted_acts; ++what) {
      const script first = {{static_cast<act>(what), 1, 6}, {act::find}};
      for (const script& second : opponents()) {
        // Every run takes some of the pairs. Under ThreadSanitizer fewer: threads come dear there, and schedules of one
        // step at a time hold no race to be seen.
        if (!random.one_in(cubby::detail::cpu::thread_sanitizer ? 5 : 2)) continue;
        const script prelude = present ? script{{act::insert}} : script{{act::insert, 0, 5}};
        every_pair_of_stops<TypeParam>(prelude, first, second, random, 40);
        if (::testing::Test::HasFatalFailure()) {
          ADD_FAILURE() << "verb " << what << (present ? " of a present key" : " of an absent key");
          return;
        }
      }
    }
  }
}

script random_script(random_source& random, std::uint64_t keys, std::uint64_t values) {
  script s;
  for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
    s.push_back({static_cast<act>(random.below(11)), random.below(keys), random.below(values)});
  }
  return s;
}

/// Three threads, turns of random length; `fill` keys fill the bins, so that inserts chain, overflow and grow.
template <class Coding>
void random_schedule(std::uint64_t salt, std::uint64_t fill, const table_options& o) {
  random_source random(salt);
  const std::uint64_t keys = 1 + random.below(3);
  const std::uint64_t values = 1 + random.below(3);
  std::vector<script> scripts;
  for (unsigned t = 0; t < 3; ++t) scripts.push_back(random_script(random, keys, values));
  for (std::uint64_t n = 0; n < random.below(4); ++n) scripts[2].push_back({act::insert, 3 + n, 1});
  run<Coding> r(o);
  for (std::uint64_t n = 0; n < fill; ++n) r.map.insert(fill > 15 ? 100 + n : 3 + n, Coding::encode(n));
  r.now(random_script(random, keys, values));
  for (const auto& s : scripts) r.thread(s);
  std::vector<std::uint64_t> ended(3, 0);
  while (ended[0] + ended[1] + ended[2] < 3) {
    const std::uint64_t t = random.below(3);
    const std::uint64_t steps = random.one_in(3) ? 1 + random.below(60) : 1 + random.below(6);
    ended[t] = r.turns.run(t, steps) == scheduler::stopped::finished ? 1 : 0;
  }
  const finding f = r.end(keys);
  ASSERT_EQ(f.what, judgement::linearizable) << "salt " << salt << "\n" << f.text;
}

TYPED_TEST(schedules, at_random_at_rest) {
  for (std::uint64_t salt = 100000; salt < 100000 + scaled(1000); ++salt) {
    random_schedule<TypeParam>(salt, 0, tiny_options());
    if (::testing::Test::HasFatalFailure()) return;
  }
}

/// Nearly full bins: the inserts of the third thread make the table grow under the others.
TYPED_TEST(schedules, at_random_with_growth) {
  using plain = std::conditional_t<std::is_same_v<typename TypeParam::value, wide_value>, record_coding<cubby::dlht>,
                                   word_coding<cubby::dlht>>;
  for (std::uint64_t salt = 200000; salt < 200000 + scaled(300); ++salt) {
    for (const auto growth : {cubby::growth_policy::cooperative, cubby::growth_policy::incremental}) {
      random_schedule<plain>(salt, 16 + salt % 20, tiny_options(growth));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

/// The control: the published assign goes through the search of every pair of stops.
TEST(schedules_control, the_search_catches_the_published_protocol) {
  bool caught = false;
  for (std::uint64_t i = 1; i < 30 && !caught; ++i) {
    for (std::uint64_t j = 0; j < 40 && !caught; ++j) {
      paper_bin bin;
      trace start(0, 9), first(1, 9), second(2, 9), last(3, 9);
      const auto put = [&](trace& t, verb what, std::uint64_t argument, auto call) {
        t.take(what, 1, argument, [&](record& r) { r.ok = call(); });
      };
      const auto look = [&](trace& t) {
        t.take(verb::find, 1, 0, [&](record& r) {
          const auto got = bin.find(1);
          r.ok = got.has_value();
          r.result = got.value_or(0);
        });
      };
      put(start, verb::insert, 5, [&] { return bin.insert(1, 5); });
      scheduler turns;
      const auto a = turns.start([&] {
        put(first, verb::assign, 6, [&] { return bin.assign(1, 6); });
        look(first);
      });
      const auto b = turns.start([&] {
        put(second, verb::erase, 0, [&] { return bin.extract(1).has_value(); });
        put(second, verb::insert, 5, [&] { return bin.insert(1, 5); });
      });
      turns.run(a, i);
      turns.run(b, j);
      turns.run_until(a, scheduler::never);
      ASSERT_TRUE(turns.finish_all());
      look(last);
      std::vector<record> history;
      for (const trace* t : {&start, &first, &second, &last}) {
        history.insert(history.end(), t->records().begin(), t->records().end());
      }
      caught = check_history(history).what == judgement::refused;
    }
  }
  EXPECT_TRUE(caught);
}

} // namespace
} // namespace cubby_test
