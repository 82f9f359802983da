// SPDX-License-Identifier: Apache-2.0
// Tuples in the hand of a thread that stands still: who waits for it, who goes on, and what a mover does that meets
// one. Then readers and writers of one value at every pair of steps.
#include <functional>

#include "linearizability/play.hpp"

namespace cubby_test {
namespace {

using namespace scripted;

/// Keys below 1000 begin at the first line; their tags differ.
struct one_line_hash {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key < 1000 ? key : splitmix(key); }
};
using map = cubby::map<std::uint64_t, tuple_value, cubby::dramhit_tuples, one_line_hash>;
using coding = record_coding<cubby::dramhit_tuples, clustered_hash>;

constexpr std::uint64_t keys_before = 6;
constexpr std::uint64_t spread_keys = 80; // of 64 tuples: the table grows once
void fill(map& m) {
  for (std::uint64_t k = 0; k < keys_before; ++k) ASSERT_TRUE(m.insert(k, tuple_value::of(k)));
}

/// Stops a thread before its nth step of this kind behind its first swap.
scheduler::predicate behind_a_swap(step kind, unsigned number) {
  return [=, swapped = false, left = number](step now, const void*) mutable {
    const bool stop = swapped && now == kind && --left == 0;
    swapped = swapped || now == step::rmw8;
    return stop;
  };
}

/// Lets a thread go on as long as it does not stand; a long script takes several turns. False: it waits for another thread.
bool ends_alone(scheduler& turns, std::size_t thread) {
  for (unsigned turn = 0; turn < 64; ++turn)
    if (turns.run_until(thread, scheduler::never) == scheduler::stopped::finished) return true;
  return false;
}

/// Every verb on other keys, and as many inserts as make the table grow.
void everything_else(map& m) {
  ASSERT_TRUE(m.insert(50, tuple_value::of(50)));
  ASSERT_TRUE(m.assign(2, tuple_value::of(12)));
  ASSERT_TRUE(m.update(2, [](const tuple_value& v) { return tuple_value::of(v.number + 1); }));
  ASSERT_EQ(m.find(2), tuple_value::of(13));
  ASSERT_TRUE(m.erase(3));
  ASSERT_TRUE(m.insert(3, tuple_value::of(3)));
  ASSERT_TRUE(m.extract(50).has_value());
  ASSERT_FALSE(m.find(60).has_value());
  for (std::uint64_t k = 0; k < spread_keys; ++k) ASSERT_TRUE(m.insert(2000 + k, tuple_value::of(k)));
  for (std::uint64_t k = 0; k < spread_keys; ++k) ASSERT_EQ(m.find(2000 + k), tuple_value::of(k));
}

/// Half of a value is written. Who asks for it waits and then sees all of it; every other thread goes on, growth included.
void stand_behind_a_word(cubby::growth_policy growth, unsigned words) {
  map m(tiny_options(growth));
  fill(m);
  scheduler turns;
  auto hand = m.handle(); // so that the thread's first swap is the verb's
  const auto writer = turns.start([&] { ASSERT_TRUE(hand.assign(1, tuple_value::of(11))); });
  ASSERT_EQ(turns.run_until(writer, behind_a_swap(step::store, words)), scheduler::stopped::before_step);
  const auto reader = turns.start([&] { ASSERT_EQ(m.find(1), tuple_value::of(11)); });
  const auto changer =
      turns.start([&] { ASSERT_TRUE(m.update(1, [](const auto& v) { return tuple_value::of(v.number + 100); })); });
  const auto other = turns.start([&] { everything_else(m); });
  EXPECT_EQ(turns.run_until(reader, scheduler::never), scheduler::stopped::waiting) << "what has it read?";
  EXPECT_EQ(turns.run_until(changer, scheduler::never), scheduler::stopped::waiting) << "what has it replaced?";
  EXPECT_TRUE(ends_alone(turns, other)) << "another thread waits for the writer";
  EXPECT_GE(m.stats().growths, 1u);
  EXPECT_TRUE(m.stats().migrating) << "the tuple that is being written has not moved yet";
  EXPECT_FALSE(m.insert(1, tuple_value::of(0))) << "that the key is there needs no value";
  EXPECT_TRUE(ends_alone(turns, writer));
  EXPECT_TRUE(ends_alone(turns, reader));
  EXPECT_TRUE(turns.finish_all());
  EXPECT_EQ(m.find(1), tuple_value::of(111));
  EXPECT_FALSE(m.stats().migrating) << "the writer has moved what it was left";
}

TEST(tuples, that_are_being_written_hold_up_nobody_but_their_own_key) {
  for (const auto growth : {cubby::growth_policy::incremental, cubby::growth_policy::cooperative}) {
    for (unsigned words = 1; words <= 4 && !HasFailure(); ++words) stand_behind_a_word(growth, words);
  }
}

/// A tuple is claimed for a key that is not shown yet. The key is absent to the thread that reads; its next insert waits.
TEST(tuples, that_are_being_filled_hold_up_inserts_of_their_key_alone) {
  for (unsigned words = 1; words <= 5; ++words) {
    map m(tiny_options());
    fill(m);
    scheduler turns;
    bool first_said = false, second_said = false;
    auto hand = m.handle();
    const auto first = turns.start([&] { first_said = hand.insert(9, tuple_value::of(1)); });
    ASSERT_EQ(turns.run_until(first, behind_a_swap(step::store, words)), scheduler::stopped::before_step);
    const auto second = turns.start([&] { second_said = m.insert(9, tuple_value::of(2)); });
    const auto reader = turns.start([&] {
      ASSERT_FALSE(m.find(9).has_value());
      ASSERT_FALSE(m.erase(9));
      ASSERT_FALSE(m.assign(9, tuple_value::of(3)));
    });
    const auto other = turns.start([&] { ASSERT_TRUE(m.insert(10, tuple_value::of(10))); });
    EXPECT_EQ(turns.run_until(second, scheduler::never), scheduler::stopped::waiting) << "two inserts of one key";
    EXPECT_TRUE(ends_alone(turns, reader));
    EXPECT_TRUE(ends_alone(turns, other)) << "an insert of another key";
    EXPECT_TRUE(ends_alone(turns, first));
    EXPECT_TRUE(turns.finish_all());
    EXPECT_TRUE(first_said);
    EXPECT_FALSE(second_said);
    EXPECT_EQ(m.find(9), tuple_value::of(1));
    if (HasFailure()) return;
  }
}

/// The table grows while a tuple is being filled: the insert gives it up and goes on to the next array, unless another thread was
/// faster there.
TEST(tuples, that_are_being_filled_are_given_up_to_a_mover) {
  for (const bool somebody_is_faster : {false, true}) {
    map m(tiny_options());
    fill(m);
    scheduler turns;
    bool first_said = false, second_said = false;
    auto hand = m.handle();
    const auto first = turns.start([&] { first_said = hand.insert(9, tuple_value::of(1)); });
    ASSERT_EQ(turns.run_until(first, behind_a_swap(step::store, 3)), scheduler::stopped::before_step);
    const auto other = turns.start([&] { everything_else(m); });
    EXPECT_TRUE(ends_alone(turns, other));
    EXPECT_TRUE(m.stats().migrating);
    const auto second = turns.start([&] {
      if (somebody_is_faster) second_said = m.insert(9, tuple_value::of(2));
    });
    EXPECT_EQ(ends_alone(turns, second), !somebody_is_faster) << "the first one may still end as inserted";
    // Its next swap fails; before the one behind that it has given the tuple up, and has not looked further.
    if (somebody_is_faster) turns.run_until(first, behind_a_swap(step::rmw8, 1));
    else EXPECT_TRUE(ends_alone(turns, first));
    EXPECT_TRUE(ends_alone(turns, second));
    EXPECT_TRUE(turns.finish_all());
    EXPECT_NE(first_said, second_said) << "one of them inserts";
    EXPECT_EQ(second_said, somebody_is_faster);
    EXPECT_EQ(m.find(9), tuple_value::of(second_said ? 2 : 1));
    EXPECT_FALSE(m.stats().migrating);
    EXPECT_EQ(m.size(), keys_before + spread_keys + 1);
    if (HasFailure()) return;
  }
}

/// A tuple that was given up stands before others of its chain, which have not moved yet.
TEST(tuples, that_were_given_up_leave_their_chain_whole) {
  for (std::uint64_t at = 1;; at += cubby::detail::cpu::thread_sanitizer ? 5 : 1) {
    map m(tiny_options());
    for (std::uint64_t k = 0; k < 7; ++k) ASSERT_TRUE(m.insert(k, tuple_value::of(k)));
    scheduler turns;
    bool said = false;
    auto hand = m.handle();
    const auto inserter = turns.start([&] { said = hand.insert(9, tuple_value::of(9)); });
    ASSERT_EQ(turns.run_until(inserter, behind_a_swap(step::store, 3)), scheduler::stopped::before_step);
    for (std::uint64_t k = 51; k < 54; ++k) ASSERT_TRUE(m.insert(k, tuple_value::of(k))); // of the next unit
    const auto mover = turns.start([&] { ASSERT_TRUE(m.reserve(60)); });
    const bool last = turns.run(mover, at) == scheduler::stopped::waiting; // for the inserter
    const auto reader = turns.start([&] {
      for (std::uint64_t k = 51; k < 54; ++k) ASSERT_EQ(m.find(k), tuple_value::of(k)) << "stopped at " << at;
    });
    EXPECT_TRUE(ends_alone(turns, inserter));
    EXPECT_TRUE(ends_alone(turns, reader));
    EXPECT_TRUE(turns.finish_all());
    EXPECT_TRUE(said);
    EXPECT_EQ(m.find(9), tuple_value::of(9));
    EXPECT_EQ(m.size(), 11u);
    if (last || HasFailure()) return;
  }
}

/// One insert is about to take the tuple that ends its chain, a part of which has moved. Another of the same key goes on to
/// the next array. No thread may take that tuple any more (T4).
TEST(tuples, that_end_a_chain_are_sealed_by_who_goes_on) {
  for (std::uint64_t at = 60;; at += 3) {
    map m(tiny_options());
    fill(m);
    scheduler turns;
    bool first_said = false, second_said = false;
    auto hand = m.handle();
    const auto first = turns.start([&] { first_said = hand.insert(9, tuple_value::of(1)); });
    ASSERT_EQ(turns.run_until(first, [](step kind, const void*) { return kind == step::rmw8; }),
              scheduler::stopped::before_step);
    const auto mover = turns.start([&] { ASSERT_TRUE(m.reserve(60)); });
    const bool last = turns.run(mover, at) != scheduler::stopped::before_step;
    const auto second = turns.start([&] { second_said = m.insert(9, tuple_value::of(2)); });
    EXPECT_TRUE(ends_alone(turns, second));
    EXPECT_TRUE(ends_alone(turns, first));
    EXPECT_TRUE(turns.finish_all());
    EXPECT_TRUE(second_said);
    EXPECT_FALSE(first_said) << "both have inserted, stopped at " << at;
    EXPECT_EQ(m.find(9), tuple_value::of(2));
    EXPECT_EQ(m.size(), keys_before + 1);
    if (HasFailure()) return;
    if (last) break;
  }
}

/// A mover stands while it moves a tuple: its value can be read, its key is there, and only a change of it waits.
TEST(tuples, that_are_being_moved_can_be_read) {
  for (std::uint64_t key = 0; key < keys_before; ++key) {
    map m(tiny_options());
    fill(m);
    scheduler turns;
    const auto mover = turns.start([&] { ASSERT_TRUE(m.reserve(60)); });
    bool waits = false;
    while (!waits && turns.run(mover, 1) != scheduler::stopped::finished) {
      // A change that may come to one, and does nothing for the mover.
      const auto changer = turns.start([&] { (void)m.erase_if(key, [](const auto&) { return false; }); });
      waits = turns.run_until(changer, scheduler::never) == scheduler::stopped::waiting;
    }
    ASSERT_TRUE(waits) << "the mover has moved key " << key << " nowhere";
    const auto reader = turns.start([&] {
      ASSERT_EQ(m.find(key), tuple_value::of(key));
      ASSERT_FALSE(m.insert(key, tuple_value::of(0)));
      ASSERT_TRUE(m.assign((key + 1) % keys_before, tuple_value::of(7)));
    });
    EXPECT_TRUE(ends_alone(turns, reader));
    EXPECT_TRUE(turns.finish_all());
    EXPECT_EQ(m.find(key), tuple_value::of(key));
    EXPECT_EQ(m.size(), keys_before);
    if (HasFailure()) return;
  }
}

/// A value that is read word by word while others write it, or take its key out and bring it back.
TEST(tuples, are_read_whole_at_every_pair_of_steps) {
  for (const act what : {act::find, act::update, act::extract, act::toggle, act::add, act::contains}) {
    at_every_pair_of_steps<coding>({{act::insert, 4, 5}}, {{what, 4, 6}}, {{act::assign, 4, 7}, {act::assign, 4, 8}});
  }
}

/// A thread stands before any of its steps, and others make the table grow and shrink, and change the tuple that it is writing.
TEST(tuples, in_a_standing_hand_stop_no_other_key_at_any_step) {
  using verb = std::function<void(map&)>;
  const verb verbs[] = {[](map& m) { (void)m.insert(9, tuple_value::of(1)); },
                        [](map& m) { (void)m.assign(1, tuple_value::of(1)); },
                        [](map& m) { (void)m.erase(1); },
                        [](map& m) { (void)m.extract(1); },
                        [](map& m) { (void)m.find(1); },
                        [](map& m) { (void)m.insert_or_add(1, tuple_value::of(1)); },
                        [](map& m) { m.visit_all([](const auto&, const auto&) {}); }};
  for (const verb& what : verbs) {
    for (std::uint64_t at = 1;; at += cubby::detail::cpu::thread_sanitizer ? 5 : 1) {
      map m(tiny_options());
      fill(m);
      scheduler turns;
      const auto still = turns.start([&] { what(m); });
      const auto other = turns.start([&] { everything_else(m); });
      const bool ended = turns.run(still, at) == scheduler::stopped::finished;
      ASSERT_TRUE(ends_alone(turns, other)) << "another thread waits for a thread that stands before its step " << at;
      ASSERT_TRUE(turns.finish_all());
      for (std::uint64_t k = 0; k < spread_keys; ++k) ASSERT_EQ(m.find(2000 + k), tuple_value::of(k));
      if (ended || HasFailure()) break;
    }
  }
}

} // namespace
} // namespace cubby_test
