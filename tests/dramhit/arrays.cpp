// SPDX-License-Identifier: Apache-2.0
// Entries on their way from array to array. Each verb runs while a mover stands still at any of its steps, and the mover
// runs past a verb that stands still. There is growth, growth by two arrays, shrinking, and a rebuild of the same size.
// Then the cases that take more than one stop.
#include "linearizability/migrations.hpp"

namespace cubby_test {
namespace {

using namespace scripted;

/// Keys below 16 and from 100 on begin at the first line; as words, those below 4 have slots of their own.
struct first_line_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key < 16 || key >= 100 ? 5 : splitmix(key); }
};
using words = word_coding<cubby::dramhit, first_line_hash>;
using records = record_coding<cubby::dramhit, first_line_hash>;

template <class Coding>
class arrays : public ::testing::Test {};
using tuples = record_coding<cubby::dramhit_tuples, first_line_hash>;
using arrays_kinds = ::testing::Types<words, records, tuples>;
TYPED_TEST_SUITE(arrays, arrays_kinds);

template <class Coding>
std::vector<migration<Coding>> migrations() {
  using map = typename Coding::map;
  const auto nothing = [](map&) {};
  return {{"grow", nothing, [](map& m) { m.reserve(60); }},
          {"grow twice", nothing,
           [](map& m) {
             m.reserve(60);
             m.reserve(90);
           }},
          {"shrink", [](map& m) { m.reserve(60); }, [](map& m) { m.shrink_to_fit(); }},
          {"rebuild", // crowded by the dead, which fill the first 52 slots
           [](map& m) {
             for (std::uint64_t k = 100; k < 152; ++k) m.insert(k, Coding::encode(k));
             for (std::uint64_t k = 100; k < 152; ++k) m.erase(k);
           },
           [](map& m) {
             for (std::uint64_t k = 200; k < 204; ++k) m.insert(k, Coding::encode(k));
             for (std::uint64_t k = 200; k < 204; ++k) m.erase(k);
           }}};
}

/// What reservations are for is left out: this engine has none.
constexpr std::size_t verbs = scripted_acts - 2;

template <class Coding, class One>
void for_each_combination(One one) {
  for_each_combination_of(migrations<Coding>(), verbs, one);
}

TYPED_TEST(arrays, change_behind_a_verb_that_stands_still_at_any_step) {
  random_source random(4000);
  for_each_combination<TypeParam>([&](auto& how, auto& where, bool present, act what, const std::string& name) {
    if (!random.one_in(rarity(4))) return true;
    for (std::uint64_t i = 0;; ++i) {
      arena<TypeParam> a(how, where, present);
      const auto caller = a.caller(what, 1);
      const bool last = a.r.turns.run(caller, i) == scheduler::stopped::finished;
      a.r.turns.run_until(a.mover, scheduler::never);
      a.r.turns.run_until(caller, scheduler::never);
      if (!a.ended(name + std::to_string(i))) return false;
      if (last) return true;
    }
  });
}

TYPED_TEST(arrays, serve_every_verb_while_a_mover_stands_still_at_any_step) {
  random_source random(4100);
  for_each_combination<TypeParam>([&](auto& how, auto& where, bool present, act what, const std::string& name) {
    if (!random.one_in(rarity(24))) return true;
    for (std::uint64_t j = 0;; ++j) {
      arena<TypeParam> a(how, where, present);
      const auto caller = a.caller(what, 1);
      const bool last = a.r.turns.run(a.mover, j) == scheduler::stopped::finished;
      a.r.turns.run_until(caller, scheduler::never);
      if (!a.ended(name + std::to_string(j))) return false;
      if (last) return true;
    }
  });
}

/// An entry whose value is the word that seals an empty slot arrives between the mover's two looks at the slot.
TYPED_TEST(arrays, are_followed_by_an_entry_that_came_while_its_slot_was_sealed) {
  const auto how = migrations<TypeParam>()[0];
  for (std::uint64_t j = 0;; ++j) {
    arena<TypeParam> a(how, places[0], false);
    const auto caller = a.caller(act::insert, 1);
    const bool last = a.r.turns.run(a.mover, j) == scheduler::stopped::finished;
    a.r.turns.run_until(caller, scheduler::never);
    if (!a.ended(std::to_string(j)) || last) return;
  }
}

/// One insert stands before any of its steps, and the mover has moved a part of the chain. Another insert of the same
/// key goes further on. So no thread may insert it here any more (J4).
TYPED_TEST(arrays, are_left_for_the_next_one_by_all_inserts_of_a_key) {
  const auto how = migrations<TypeParam>()[0];
  constexpr std::uint64_t swaps = 13; // five entries, the free slot behind them, and a few more
  for (std::uint64_t i = 1;; ++i) {
    bool last = false;
    for (std::uint64_t before = 1; before < swaps; before += rarity(1)) {
      arena<TypeParam> a(how, places[1], false);
      const auto first = a.caller(act::insert, 6), second = a.caller(act::insert, 7);
      last = a.r.turns.run(first, i) == scheduler::stopped::finished;
      for (std::uint64_t n = 0; n < before; ++n) (void)a.r.turns.run_until(a.mover, scheduler::before_swap);
      a.r.turns.run_until(second, scheduler::never);
      a.r.turns.run_until(first, scheduler::never);
      if (!a.ended(std::to_string(i) + " " + std::to_string(before))) return;
    }
    if (last) return;
  }
}

/// A change meets a slot that is moving, and the mover goes on to the change's key before the change looks into the
/// cell. That key is not the key of this slot, and is not yet in the next array. (A find that takes the short way does
/// not come by here.)
TYPED_TEST(arrays, tell_which_key_is_on_its_way) {
  const auto how = migrations<TypeParam>()[0];
  for (const std::uint64_t slot : {3u, 4u}) { // the key is in slot 5
    for (std::uint64_t i = 1;; ++i) {
      arena<TypeParam> a(how, places[1], true);
      const auto change = a.caller(act::assign, 6);
      // Two swaps a slot: it is moving, its entry is placed.
      for (std::uint64_t n = 0; n < 2 * slot + 2; ++n) (void)a.r.turns.run_until(a.mover, scheduler::before_swap);
      const bool last = a.r.turns.run(change, i) == scheduler::stopped::finished;
      (void)a.r.turns.run_until(a.mover, scheduler::before_swap);
      a.r.turns.run_until(change, scheduler::never);
      if (!a.ended(std::to_string(slot) + " " + std::to_string(i))) return;
      if (last) break;
    }
  }
}

} // namespace
} // namespace cubby_test
