// SPDX-License-Identifier: Apache-2.0
// Inserts, removals and reservations at every stage of a resize, one after the other. Each takes effect on every path that
// leads to its node, and no update waits for the resize. At the end every chain is precise. Then what a resize does when
// it may not wait, and when there is no memory.
#include <algorithm>
#include <string>

#include "relativistic/family.hpp"
#include "support/failing_memory.hpp"

namespace cubby_test {
namespace {

std::vector<std::uint64_t> eight_zipped() {
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 8; ++i) keys.push_back(256 * (i + 1) + 64 * (i % 2));
  return keys;
}

using word_family = family<std::uint64_t>;

/// Runs `update` at stage `stage` of a growth of eight zipped nodes, then the growth to its end; false: no such stage.
template <class F>
bool at_stage(unsigned stage, F update) {
  word_family f(64);
  for (const std::uint64_t key : eight_zipped()) f.insert(key);
  f.begin(128);
  bool going = true;
  for (unsigned i = 0; i < stage && going; ++i) going = f.go_on(true);
  const bool there = going;
  update(f);
  while (going) going = f.go_on(true);
  f.expect_precise();
  return there;
}

TEST(zipped_chains, a_removal_unlinks_its_node_from_both_of_its_predecessors) {
  for (const std::uint64_t gone : eight_zipped()) {
    unsigned stage = 0;
    while (at_stage(stage, [&](auto& f) { f.erase(gone); })) ++stage;
    EXPECT_EQ(stage, 4u) << "and not one for each time that the chain alternates";
  }
}

TEST(zipped_chains, two_removals_and_an_insert_at_each_stage_leave_precise_chains) {
  for (const std::uint64_t one : eight_zipped()) {
    for (const std::uint64_t other : eight_zipped()) {
      if (one == other) continue;
      for (unsigned stage = 0; at_stage(stage, [&](auto& f) {
             f.erase(one);
             f.insert(256 * 50 + one % 128);
             f.go_on(true);
             f.erase(other);
           });) {
        ++stage;
      }
    }
  }
}

TEST(zipped_chains, a_node_may_belong_to_two_paths_while_they_are_unzipped) {
  word_family f(64);
  for (const std::uint64_t key : eight_zipped()) f.insert(key);
  f.begin(128);
  f.go_on(true);
  f.go_on(true);
  const auto zero = f.path(0);
  const auto other = f.path(64);
  const auto shared = std::count_if(
      zero.begin(), zero.end(), [&](std::uint64_t key) { return std::count(other.begin(), other.end(), key) != 0; });
  EXPECT_GT(shared, 2) << "or the tests of this file meet no imprecise chain";
}

TEST(zipped_chains, a_resize_stops_at_a_reader_and_goes_on_when_it_has_left) {
  word_family f(64);
  for (const std::uint64_t key : eight_zipped()) f.insert(key);
  f.begin(128);
  {
    const cubby::detail::thread_pin inside(f.reader);
    EXPECT_TRUE(f.go_as_far_as_it_can());
    const auto before = f.path(0);
    for (unsigned i = 0; i < 10; ++i) EXPECT_TRUE(f.go_on(false));
    EXPECT_EQ(f.path(0), before) << "no link was cut under a reader";
    EXPECT_EQ(f.t.stripes[0].live.load(cubby::detail::sync::relaxed), 8u);
    f.insert(256 * 60);
    f.erase(256 * 60);
  }
  for (unsigned i = 0; i < 100 && f.go_on(false); ++i) {
  }
  EXPECT_FALSE(f.go_on(false));
  f.expect_precise();
}

TEST(zipped_chains, a_resize_without_memory_leaves_the_table_as_it_was) {
  word_family f(64);
  for (const std::uint64_t key : eight_zipped()) f.insert(key);
  const auto before = f.path(0);
  set_index_memory(index_memory::none);
  EXPECT_FALSE(relativistic::begin_resize(f.t, 128));
  EXPECT_FALSE(relativistic::reserve(f.t, f.writer, 1000));
  set_index_memory(index_memory::plenty);
  EXPECT_EQ(f.path(0), before);
  EXPECT_FALSE(f.go_on(false)) << "nothing is under way";
  EXPECT_TRUE(relativistic::reserve(f.t, f.writer, 1000));
  EXPECT_GE(f.t.buckets.load(cubby::detail::sync::relaxed), 1000u);
  f.expect_precise();
}

using text_map = cubby::map<std::string, std::string, cubby::relativistic>;

TEST(zipped_chains, a_reserve_inside_a_pin_does_not_wait_for_itself) {
  text_map m;
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(m.insert("key number " + std::to_string(i), "v"));
  ASSERT_EQ(m.visit("key number 7", [&](const std::string&) { EXPECT_TRUE(m.reserve(100000)); }), 1u);
  EXPECT_TRUE(m.stats().migrating) << "it goes on later";
  EXPECT_TRUE(m.reserve(1));
  EXPECT_FALSE(m.stats().migrating);
  EXPECT_GE(m.capacity(), 100000u);
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(m.contains("key number " + std::to_string(i)));
}

TEST(zipped_chains, a_reservation_is_shown_or_taken_out_at_every_stage) {
  for (const bool commits : {true, false}) {
    for (unsigned stage = 0; at_stage(stage, [&](auto& f) {
           const cubby::detail::word_probe p{256 * 70 + 64, 256 * 70 + 64};
           {
             const cubby::detail::thread_pin pin(f.writer);
             ASSERT_EQ(relativistic::insert(f.t, p, p.word, relativistic::mark::hidden).outcome,
                       cubby::outcome::inserted);
             EXPECT_EQ(relativistic::insert(f.t, p, p.word).outcome, cubby::outcome::exists);
             EXPECT_FALSE(relativistic::find(f.t, p).found);
           }
           f.go_on(true);
           const cubby::detail::thread_pin pin(f.writer);
           if (commits) relativistic::shadow_commit(f.t, p, p.word);
           else relativistic::shadow_abort(f.t, f.writer, p, p.word);
           EXPECT_EQ(relativistic::find(f.t, p).found, commits);
           if (commits) f.keys.push_back(p.word);
         });) {
      ++stage;
    }
  }
}

} // namespace
} // namespace cubby_test
