// SPDX-License-Identifier: Apache-2.0
// Each verb against a bin that moves. The table grows (once, and twice in a row), shrinks or is copied by a snapshot
// while a verb stands still at any of its steps. A verb begins while the mover stands still at any of its steps. And both
// stop at chosen pairs of steps. The key lies in the bin's first bucket, in a chained one, or in the side bin.
#include "linearizability/migrations.hpp"

namespace cubby_test {
namespace {

using namespace scripted;
using cubby::growth_policy;

/// Keys 4 to 15 share the first bin. The words below 4, which are marks in a slot, and the values go elsewhere. So a
/// thread that hashes one of them for a key puts it into a wrong bin.
struct first_bin_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept {
    return key < 4 || key >= 16 ? ~(splitmix(key) >> 2) : 5;
  }
};

template <class Coding>
class moves : public ::testing::Test {};
using moved_codings =
    ::testing::Types<word_coding<cubby::dlht, first_bin_hash>, record_coding<cubby::dlht, first_bin_hash>>;
TYPED_TEST_SUITE(moves, moved_codings);

/// Entries elsewhere that have come and gone, so that there is something to shrink.
template <class Coding>
void crowd(typename Coding::map& m) {
  for (std::uint64_t k = 0; k < 40; ++k) m.insert(100 + k, Coding::encode(k));
  for (std::uint64_t k = 0; k < 40; ++k) m.erase(100 + k);
}
template <class Coding>
std::vector<migration<Coding>> migrations() {
  using map = typename Coding::map;
  const auto nothing = [](map&) {};
  return {{"grow", nothing, [](map& m) { m.reserve(20); }},
          {"grow twice", nothing,
           [](map& m) {
             m.reserve(20);
             m.reserve(40);
           }},
          {"shrink", crowd<Coding>, [](map& m) { m.shrink_to_fit(); }},
          {"snapshot", nothing, [](map& m) { (void)m.snapshot(); }}};
}

template <class Coding, class One>
void for_each_combination(One one) {
  for_each_combination_of(migrations<Coding>(), scripted_acts, one);
}

constexpr std::uint64_t given = 60; // the value that a caller brings

TYPED_TEST(moves, past_a_verb_that_stands_still_at_any_step) {
  random_source random(3000);
  for_each_combination<TypeParam>([&](auto& how, auto& where, bool present, act what, const std::string& name) {
    if (!random.one_in(rarity(3))) return true;
    for (std::uint64_t i = 0;; ++i) {
      arena<TypeParam> a(how, where, present);
      const auto caller = a.caller(what, given);
      const bool last = a.r.turns.run(caller, i) == scheduler::stopped::finished;
      a.r.turns.run_until(a.mover, scheduler::never);
      a.r.turns.run_until(caller, scheduler::never);
      if (!a.ended(name + std::to_string(i))) return false;
      if (last) return true;
    }
  });
}

TYPED_TEST(moves, that_stand_still_at_any_step_while_a_verb_runs) {
  random_source random(3100);
  for_each_combination<TypeParam>([&](auto& how, auto& where, bool present, act what, const std::string& name) {
    if (!random.one_in(rarity(16))) return true;
    for (std::uint64_t j = 0;; ++j) {
      arena<TypeParam> a(how, where, present);
      const auto caller = a.caller(what, given);
      const bool last = a.r.turns.run(a.mover, j) == scheduler::stopped::finished;
      a.r.turns.run_until(caller, scheduler::never);
      if (!a.ended(name + std::to_string(j))) return false;
      if (last) return true;
    }
  });
}

TYPED_TEST(moves, and_verbs_that_both_stand_still) {
  random_source random(3200);
  for_each_combination<TypeParam>([&](auto& how, auto& where, bool present, act what, const std::string& name) {
    for (std::uint64_t i = 1;; ++i) {
      bool last = false;
      for (std::uint64_t j = 1;; ++j) {
        if (!random.one_in(rarity(1) == 1 ? 30 : 400)) {
          if (random.one_in(60)) break; // as many steps of the mover as chance gives
          continue;
        }
        arena<TypeParam> a(how, where, present);
        const auto caller = a.caller(what, given);
        last = a.r.turns.run(caller, i) == scheduler::stopped::finished;
        const bool ended = a.r.turns.run(a.mover, j) != scheduler::stopped::before_step;
        a.r.turns.run_until(caller, scheduler::never);
        if (!a.ended(name + std::to_string(i) + " " + std::to_string(j))) return false;
        if (ended || last) break;
      }
      if (last || i > 30) return true;
    }
  });
}

/// The two words of a hidden entry are read one by one by the thread that moves it, while its insert may show it.
TYPED_TEST(moves, of_the_first_bin_at_every_pair_of_steps_of_an_insert) {
  const auto how = migrations<TypeParam>()[0];
  for (const place& where : {places[0], places[1]}) {
    if (where.before != 0 && rarity(2) != 1) continue;
    for (std::uint64_t i = 1;; ++i) {
      bool last = false;
      for (std::uint64_t j = 1; j < 40; ++j) {
        if (cubby::detail::cpu::thread_sanitizer && j % 5 != i % 5) continue;
        arena<TypeParam> a(how, where, false);
        const auto caller = a.caller(act::insert, given);
        last = a.r.turns.run(caller, i) == scheduler::stopped::finished;
        a.r.turns.run(a.mover, j);
        a.r.turns.run_until(caller, scheduler::never);
        if (!a.ended(std::to_string(i) + " " + std::to_string(j))) return;
      }
      if (last) break;
    }
  }
}

/// A second thread helps with the move, and finds what the first one holds.
TYPED_TEST(moves, that_stand_still_while_another_helps) {
  for (const auto& how : migrations<TypeParam>()) {
    for (std::uint64_t j = 1;; j += 1 + cubby::detail::cpu::thread_sanitizer * 4) {
      arena<TypeParam> a(how, places[1], true);
      for (std::uint64_t k = 0; k < 6; ++k) ASSERT_TRUE(a.r.map.insert(200 + k, TypeParam::encode(k)));
      const bool last = a.r.turns.run(a.mover, j) == scheduler::stopped::finished;
      const auto helper = a.r.turns.start([&] {
        for (std::uint64_t k = 0; k < 6; ++k) {
          ASSERT_TRUE(a.r.map.erase(200 + k)) << how.name << " " << j;
          ASSERT_TRUE(a.r.map.insert(200 + k, TypeParam::encode(k)));
          ASSERT_TRUE(a.r.map.erase(200 + k));
        }
      });
      a.r.turns.run_until(helper, scheduler::never);
      ASSERT_TRUE(a.ended(std::string(how.name) + ", stopped at " + std::to_string(j)));
      if (last) break;
    }
  }
}

/// A scan meets what is there throughout exactly once, wherever it stands while the bins move.
TYPED_TEST(moves, past_a_scan_that_stands_still_at_any_step) {
  for (const auto& how : migrations<TypeParam>()) {
    for (std::uint64_t i = 0;; i += 1 + cubby::detail::cpu::thread_sanitizer * 4) {
      arena<TypeParam> a(how, places[1], true);
      ASSERT_TRUE(a.r.map.insert(1, TypeParam::encode(3)));
      std::vector<unsigned> met(hot_keys, 0);
      const auto scanner = a.r.turns.start([&] { a.r.map.visit_all([&](const auto& k, const auto&) { ++met[k]; }); });
      const bool last = a.r.turns.run(scanner, i) == scheduler::stopped::finished;
      a.r.turns.run_until(a.mover, scheduler::never);
      ASSERT_TRUE(a.r.turns.finish_all());
      for (const std::uint64_t k : {1u, 4u, 5u, 6u, 7u, 8u, 10u}) ASSERT_EQ(met[k], 1u) << how.name << " " << i;
      if (last) break;
    }
  }
}

/// A snapshot is of one moment: of two updates, one after the other, it never holds the second alone. The writer stands
/// after j steps, the snapshot after i; then the writer goes on.
template <class Coding>
void expect_one_moment(std::uint64_t i, std::uint64_t j, bool& last) {
  typename Coding::map m(tiny_options());
  for (const std::uint64_t k : {1u, 10u}) ASSERT_TRUE(m.insert(k, Coding::encode(5)));
  std::uint64_t seen[2] = {0, 0};
  scheduler turns;
  const auto taker = turns.start([&] {
    for (const auto& [k, v] : m.snapshot()) seen[k == 1 ? 0 : 1] = Coding::decode(v);
  });
  const auto writer = turns.start([&] {
    ASSERT_TRUE(m.assign(1, Coding::encode(6)));
    ASSERT_TRUE(m.assign(10, Coding::encode(6)));
    ASSERT_TRUE(m.assign(1, Coding::encode(7)));
  });
  turns.run(writer, j);
  last = turns.run(taker, i) == scheduler::stopped::finished;
  turns.run_until(writer, scheduler::never);
  ASSERT_TRUE(turns.finish_all());
  const std::uint64_t both = seen[0] * 10 + seen[1];
  ASSERT_TRUE(both == 55 || both == 65 || both == 66 || both == 76) << both << " at stops " << i << " " << j;
}

TYPED_TEST(moves, to_a_snapshot_show_one_moment) {
  random_source random(3300);
  bool last = false;
  for (std::uint64_t i = 1; !last; ++i) {
    for (std::uint64_t j = 0; j < 40; ++j) {
      if (j != 0 && !random.one_in(rarity(20))) continue;
      expect_one_moment<TypeParam>(i, j, last);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

} // namespace
} // namespace cubby_test
