// SPDX-License-Identifier: Apache-2.0
// A writer stands still before each of its steps, at rest and at each stage of a resize, its share of that included.
// Meanwhile every key is looked up, and three keys of each stripe are inserted, assigned and erased. Every lookup ends. The
// updates of a stripe wait exactly when its lock is held, and one lock is held at most. All other updates end: one whose share
// of a resize comes to the stripe that is held leaves it there. What is taken out is handed over under another lock, one of
// 16, and a thread that meets that one takes the next.
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <set>
#include <vector>

#include "relativistic/table_with_worker.hpp"
#include "support/fiber_scheduler.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

/// Who has which thread record: the writer, the reader, and the updates, of which some wait.
constexpr std::size_t writers_thread_record = 0;
constexpr std::size_t readers_thread_record = 1;
constexpr std::size_t first_thread_record_of_updates = 2;

/// The stripes whose locks are held, now that every thread stands.
template <class Policy>
std::vector<std::uint64_t> held_stripes(relativistic::table<Policy>& t) {
  std::vector<std::uint64_t> held;
  for (std::uint64_t s = 0; s < relativistic::stripe_count; ++s) {
    if (t.stripes[s].lock.try_lock()) t.stripes[s].lock.unlock();
    else held.push_back(s);
  }
  return held;
}
template <class Policy>
bool is_resize_locked(relativistic::table<Policy>& t) {
  if (!t.resize_lock.try_lock()) return true;
  t.resize_lock.unlock();
  return false;
}

/// Every key of every stripe, one by one and in a batch, in a thread that must not wait.
template <class Value>
void expect_lookups_to_end(table_with_worker<Value>& m, fiber_scheduler& turns) {
  const auto reader = turns.start([&m] {
    std::vector<std::uint64_t> keys, expected;
    for (std::uint64_t s = 0; s < relativistic::stripe_count; ++s) {
      for (const part which : {part::kept, part::assigned, part::erased, part::absent, part::inserted}) {
        keys.push_back(key_of(s, which));
        expected.push_back(which < part::absent ? keys.back() : 0);
        EXPECT_EQ(m.find(readers_thread_record, keys.back()), expected.back());
      }
    }
    EXPECT_EQ(m.find_batch(readers_thread_record, keys), expected);
    // what the writer is inserting may be there or not
    for (const part which : {part::writers_old, part::writers_new}) {
      const std::uint64_t key = key_of(writers_stripe, which);
      const std::uint64_t got = m.find(readers_thread_record, key);
      EXPECT_TRUE(got == 0 || got == key || got == key + m.assigned) << got << " under " << key;
    }
  });
  EXPECT_TRUE(turns.ends_alone(reader)) << "a lookup waits";
}

constexpr std::uint64_t updates = 3 * relativistic::stripe_count;
constexpr std::uint64_t stripe_of_update(std::uint64_t number) { return number / 3; }
constexpr part part_of_update(std::uint64_t number) {
  constexpr part parts[] = {part::inserted, part::assigned, part::erased};
  return parts[number % 3];
}

/// Three updates of each stripe, one after the other, in a thread that is left behind when it waits: then another goes on.
/// Returns those that wait.
template <class Value>
std::vector<std::uint64_t> updates_that_wait(table_with_worker<Value>& m, fiber_scheduler& turns) {
  std::vector<std::uint64_t> waiting;
  for (std::size_t who = first_thread_record_of_updates; m.next_update < updates; ++who) {
    if (who == m.thread_records) {
      ADD_FAILURE() << "more updates wait than there are thread records for";
      break;
    }
    const auto one = turns.start([&m, who] {
      for (std::uint64_t n = m.next_update; n == m.next_update && n < updates; ++n) {
        ++m.next_update;
        constexpr change changes[] = {change::insert, change::assign, change::erase};
        m.act(who, changes[n % 3], key_of(stripe_of_update(n), part_of_update(n)));
      }
    });
    if (!turns.ends_alone(one)) waiting.push_back(m.next_update - 1);
  }
  return waiting;
}

/// What was met over all steps of a writer.
struct tally {
  std::set<std::uint64_t> held; // stripes
  std::uint64_t passed_by = 0;  // steps at which others came with a share of a resize to the stripe that was held
};

/// What a lookup shows after the update.
template <class Value>
std::uint64_t shown_after(const table_with_worker<Value>& m, part which, std::uint64_t key) {
  if (which == part::erased || which == part::absent) return 0;
  return which == part::assigned ? key + m.assigned : key;
}

template <class Value>
void look_round(table_with_worker<Value>& m, fiber_scheduler& turns, tally& seen) {
  const auto held = held_stripes(m.t);
  ASSERT_LE(held.size(), 1u) << "a writer holds the locks of two stripes";
  expect_lookups_to_end(m, turns);
  const auto waiting = updates_that_wait(m, turns);
  EXPECT_EQ(waiting.size(), held.empty() ? 0u : 3u) << "updates of the stripe whose lock is held";
  for (const std::uint64_t number : waiting) {
    EXPECT_TRUE(!held.empty() && stripe_of_update(number) == held[0]) << "waits whose stripe is free";
  }
  seen.held.insert(held.begin(), held.end());
  const relativistic::resize_work& w = m.t.work;
  const bool stands = w.at != relativistic::stage::idle && !w.waiting && !held.empty() &&
                      w.cursor % relativistic::stripe_count == held[0];
  seen.passed_by += stands && !is_resize_locked(m.t) ? 1 : 0;
}

/// What is in the table when every thread has gone on, and that every chain is sorted and has its own bucket's nodes alone.
template <class Value>
void expect_all_done(table_with_worker<Value>& m, change what) {
  EXPECT_TRUE(m.finish_resize(readers_thread_record));
  for (std::uint64_t s = 0; s < relativistic::stripe_count; ++s) {
    for (const part which : {part::kept, part::assigned, part::erased, part::absent, part::inserted}) {
      const std::uint64_t key = key_of(s, which);
      EXPECT_EQ(m.find(readers_thread_record, key), shown_after(m, which, key));
    }
  }
  const std::uint64_t before = key_of(writers_stripe, part::writers_old);
  const std::uint64_t made = key_of(writers_stripe, part::writers_new);
  const std::uint64_t changed = what == change::erase ? 0 : before + (what == change::assign ? m.assigned : 0);
  EXPECT_EQ(m.find(readers_thread_record, before), changed);
  const bool inserts = what == change::insert || what == change::commit;
  EXPECT_EQ(m.find(readers_thread_record, made), inserts ? made : 0);
  const std::uint64_t expected = 3 * relativistic::stripe_count + (changed != 0 ? 1 : 0) + (inserts ? 1 : 0);
  EXPECT_EQ(relativistic::live_entries(m.t), expected);
  std::uint64_t met = 0;
  const std::uint64_t buckets = m.t.buckets.load(cubby::detail::sync::relaxed);
  for (std::uint64_t b = 0; b < buckets; ++b) {
    std::vector<std::uint64_t> path;
    for (auto* n = relativistic::node_at(relativistic::first_link(m.t, b)); n != nullptr;) {
      path.push_back(n->key);
      n = relativistic::node_at(n->next.load(cubby::detail::sync::relaxed));
    }
    EXPECT_TRUE(std::is_sorted(path.begin(), path.end(), relativistic::comes_before)) << "bucket " << b;
    for (const std::uint64_t key : path) EXPECT_EQ(key % buckets, b);
    met += path.size();
  }
  EXPECT_EQ(met, expected);
}

/// A writer with this change before each of its steps, or one in `every`. A lock is held for four steps or more, in a pass for
/// five.
template <class Value>
tally stand_before_each_step(const post& p, change what,
                             std::uint64_t every = cubby::detail::cpu::thread_sanitizer ? 3 : sparse_stride(3)) {
  const bool new_key = what != change::assign && what != change::erase;
  const std::uint64_t key = key_of(writers_stripe, new_key ? part::writers_new : part::writers_old);
  tally seen;
  for (std::uint64_t number = run_seed() % every;; number += every) {
    table_with_worker<Value> m(p);
    fiber_scheduler turns;
    const auto writer = turns.start([&] { m.act(writers_thread_record, what, key); });
    const auto how = turns.run(writer, number);
    EXPECT_NE(how, fiber_scheduler::stopped::waiting) << "of step " << number;
    look_round(m, turns, seen);
    EXPECT_TRUE(turns.finish_all());
    expect_all_done(m, what);
    const bool failed = ::testing::Test::HasFailure();
    if (failed) ADD_FAILURE() << "change " << static_cast<int>(what) << " before step " << number;
    if (failed || how == fiber_scheduler::stopped::finished) return seen;
  }
}

template <class Value>
class parked_writer : public ::testing::Test {};
using words_and_records = ::testing::Types<std::uint64_t, wide_value>;
TYPED_TEST_SUITE(parked_writer, words_and_records);

constexpr std::initializer_list<change> every_change = {change::insert, change::assign, change::erase, change::commit,
                                                        change::abort};

TYPED_TEST(parked_writer, holds_up_updates_of_its_stripe_alone) {
  for (const change what : every_change) {
    const tally seen = stand_before_each_step<TypeParam>({.from = 128}, what);
    EXPECT_EQ(seen.held, std::set<std::uint64_t>{writers_stripe});
    if (::testing::Test::HasFailure()) return;
  }
}

/// One family of chains is the share of each writer; the writer's own may be that of its key, or another.
template <class Value>
void expect_to_be_passed_by(const post& p, std::initializer_list<change> changes) {
  for (const change what : changes) {
    const tally seen = stand_before_each_step<Value>(p, what);
    EXPECT_EQ(seen.held.count(writers_stripe), 1u);
    EXPECT_TRUE(seen.passed_by > 0 || p.done == all_families) << "no thread came to the stripe that is held";
    if (::testing::Test::HasFailure()) return;
  }
}
constexpr auto each_a_share = cubby::growth_policy::incremental;

TYPED_TEST(parked_writer, is_passed_by_while_a_table_grows) {
  expect_to_be_passed_by<TypeParam>({64, 128, each_a_share, 0}, every_change);
  expect_to_be_passed_by<TypeParam>({64, 256, each_a_share, writers_stripe}, {change::insert, change::erase});
  expect_to_be_passed_by<TypeParam>({64, 128, each_a_share, all_families}, {change::assign, change::erase});
}

TYPED_TEST(parked_writer, is_passed_by_while_a_table_shrinks) {
  expect_to_be_passed_by<TypeParam>({256, 64, each_a_share, 0}, {change::assign, change::erase});
  expect_to_be_passed_by<TypeParam>({256, 64, each_a_share, writers_stripe}, every_change);
  expect_to_be_passed_by<TypeParam>({256, 64, each_a_share, all_families}, {change::insert, change::commit});
}

/// Who is to see a resize to its end holds no lock while it waits for the writer.
TYPED_TEST(parked_writer, holds_up_reserve_and_nobody_behind_it) {
  std::uint64_t in_its_stripe = 0;
  bool last = false;
  for (std::uint64_t number = 0; !last; ++number) {
    table_with_worker<TypeParam> m({64, 128, each_a_share, 0});
    fiber_scheduler turns;
    const auto writer =
        turns.start([&] { m.act(writers_thread_record, change::insert, key_of(writers_stripe, part::writers_new)); });
    last = turns.run(writer, number) == fiber_scheduler::stopped::finished;
    const bool held = !held_stripes(m.t).empty();
    const bool locked = is_resize_locked(m.t);
    const auto resizer = turns.start([&] { EXPECT_TRUE(m.finish_resize(first_thread_record_of_updates)); });
    EXPECT_FALSE(turns.ends_alone(resizer) && held) << "before step " << number;
    const auto asker = turns.start([&] { (void)relativistic::stats(m.t); });
    EXPECT_NE(turns.ends_alone(asker), locked) << "before step " << number;
    EXPECT_TRUE(turns.finish_all());
    in_its_stripe += held && !locked ? 1 : 0;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(in_its_stripe, 0u);
}

/// The writer's share is all that can be done without waiting: it holds one lock after the other.
TYPED_TEST(parked_writer, holds_up_one_stripe_at_a_time_while_it_does_all_of_a_pass) {
  constexpr auto all_at_once = cubby::growth_policy::cooperative;
  const post moves{64, 128, all_at_once, 0}, cuts{64, 128, all_at_once, all_families}, joins{256, 64, all_at_once, 0};
  // under ThreadSanitizer a sample: a thousand steps, with a table and threads of their own for each
  const std::uint64_t every = cubby::detail::cpu::thread_sanitizer ? 17 : 5;
  for (const post& p : {moves, cuts, joins}) {
    const tally seen = stand_before_each_step<TypeParam>(p, change::insert, every);
    if (::testing::Test::HasFailure()) return;
    EXPECT_TRUE(seen.held.size() == relativistic::stripe_count || cubby::detail::cpu::thread_sanitizer)
        << "not every family was worked on";
  }
}

/// A writer takes something out; two others do that in other stripes, one of them from a thread record whose lock for what waits to
/// be freed is the writer's. Returns at how many of its steps the writer is inside: only a thread that adds up all that waits does
/// then wait.
template <class Value>
std::uint64_t steps_inside_a_bag(change what) {
  std::uint64_t inside = 0;
  for (std::uint64_t number = 0;; ++number) {
    table_with_worker<Value> m({.from = 128});
    fiber_scheduler turns;
    const auto writer =
        turns.start([&] { m.act(writers_thread_record, what, key_of(writers_stripe, part::writers_old)); });
    const bool last = turns.run(writer, number) == fiber_scheduler::stopped::finished;
    const auto twin = turns.start([&] { m.act(m.twin_of_writer, what, key_of(writers_stripe + 1, part::kept)); });
    const auto other =
        turns.start([&] { m.act(first_thread_record_of_updates, what, key_of(writers_stripe + 2, part::kept)); });
    EXPECT_TRUE(turns.ends_alone(twin)) << "before step " << number;
    EXPECT_TRUE(turns.ends_alone(other)) << "before step " << number;
    const auto adder = turns.start([&] { EXPECT_LE(m.t.bag.waiting() + m.t.node_bag.waiting(), 3u); });
    inside += turns.ends_alone(adder) ? 0 : 1;
    EXPECT_TRUE(turns.finish_all());
    if (last || ::testing::Test::HasFailure()) return inside;
  }
}

TYPED_TEST(parked_writer, holds_up_nobody_who_retires_under_the_same_lock) {
  EXPECT_GT(steps_inside_a_bag<TypeParam>(change::erase), 0u);
  const bool records = table_with_worker<TypeParam>::codec::in_records; // words are assigned in place
  EXPECT_EQ(steps_inside_a_bag<TypeParam>(change::assign) > 0, records);
}

/// Who waits for the end of a resize sleeps longer and longer while nothing gets on, and not beside writers that come and go.
TEST(shares_of_a_resize, tell_whether_they_have_got_on_before_a_held_stripe) {
  table_with_worker<std::uint64_t> m({.from = 64, .to = 128});
  auto& lock = m.t.stripes[5].lock;
  lock.lock();
  EXPECT_EQ(relativistic::work_on(m.t, 1000), relativistic::progress::more);
  EXPECT_EQ(m.t.work.cursor, 5u);
  EXPECT_EQ(relativistic::work_on(m.t, 1000), relativistic::progress::shut_out);
  EXPECT_EQ(m.t.work.cursor, 5u);
  lock.unlock();
  EXPECT_EQ(relativistic::work_on(m.t, 1), relativistic::progress::more);
  EXPECT_EQ(m.t.work.cursor, 6u);
}

} // namespace
} // namespace cubby_test
