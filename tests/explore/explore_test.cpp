// SPDX-License-Identifier: Apache-2.0
// Every scenario is explored as long as time lasts (CUBBY_EXPLORE_SECONDS for the whole binary). First come all
// schedules without a preemption, then with one, with two, then random ones. The table at the end says how far each
// group came. The control comes first: the explorer must find the holes of the published protocol.
//   CUBBY_EXPLORE_REPLAY="<scenario>@<schedule>"  runs one schedule and prints its steps
//   CUBBY_EXPLORE_ONLY='chain w:'                 explores the scenarios whose names hold this, for all of the seconds
//   CUBBY_EXPLORE_BOUND=3                         goes on to more preemptions (2 unless told, 4 at most)
//   CUBBY_EXPLORE_TABLE=<file>                    writes a row for each scenario

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <cubby/detail/core/lock.hpp>

#include "explore/groups.hpp"
#include "explore/scenarios.hpp"
#include "explore/search.hpp"
#include "support/random.hpp"

namespace cubby_test {
namespace {

TEST(explore_control, finds_each_hole_of_the_published_protocol) {
  const unsigned preemptions[] = {2, 1, 1, 2};
  const auto holes = published_holes();
  for (std::size_t i = 0; i < holes.size(); ++i) {
    explorer e(holes[i]);
    bool clean = true;
    for (unsigned bound = 0; bound <= preemptions[i] && clean; ++bound) {
      clean = e.search(bound, explorer::no_end);
      EXPECT_EQ(clean, bound < preemptions[i]) << "hole " << i + 1 << " with " << bound << " preemptions";
    }
    ASSERT_TRUE(e.failed()) << "hole " << i + 1;
    EXPECT_NE(e.failed()->text.find("no order explains key"), std::string::npos) << e.failed()->text;
    EXPECT_EQ(e.failed()->preemptions, preemptions[i]) << e.failed()->text;
  }
}

TEST(explore_control, finds_each_hole_at_random_and_shortens_it) {
  const unsigned preemptions[] = {2, 1, 1, 2};
  const auto holes = published_holes();
  for (std::size_t i = 0; i < holes.size(); ++i) {
    explorer e(holes[i]);
    (void)e.search(0, explorer::no_end); // learns how long schedules are
    EXPECT_FALSE(e.search_at_random(1, 100000, explorer::no_end)) << "hole " << i + 1;
    ASSERT_TRUE(e.failed());
    EXPECT_EQ(e.failed()->preemptions, preemptions[i]) << e.failed()->text;
  }
}

TEST(explore_control, a_failing_schedule_fails_again_with_the_same_steps) {
  explorer e(published_holes()[0]);
  for (unsigned bound = 0; bound <= 2; ++bound) (void)e.search(bound, explorer::no_end);
  ASSERT_TRUE(e.failed());
  schedule s;
  ASSERT_TRUE(read(e.failed()->where.substr(e.failed()->where.rfind('@') + 1), s));
  const std::string first = e.trace(s), second = e.trace(s);
  EXPECT_EQ(first, second);
  EXPECT_NE(first.find("no order explains key"), std::string::npos);
  EXPECT_NE(first.find("rmw16 slot 0 key"), std::string::npos) << first;
}

TEST(explore_control, the_holes_are_closed) {
  for (const scenario& s : closed_holes()) {
    explorer e(s);
    for (unsigned bound = 0; bound <= 2; ++bound) {
      ASSERT_TRUE(e.search(bound, explorer::no_end)) << (e.failed() ? e.failed()->text : std::string());
    }
    EXPECT_EQ(e.covered().bound(), 2);
  }
}

/// The search leaves out what is the same as something that it does not leave out: no history may be lost by it.
TEST(explore_control, what_is_pruned_shows_no_history_of_its_own) {
  std::vector<scenario> some;
  const auto take = [&some](const std::vector<scenario>& all, std::size_t every) {
    for (std::size_t i = every / 2; i < all.size(); i += every * sparse_stride(3)) some.push_back(all[i]);
  };
  take(pairs_of_verbs(), 40);
  take(erase_and_reuse(), 40);
  take(batches(), 20);
  take(batch_lookups(), 60);
  take(keys_zero_to_three(), 20);
  std::uint64_t fewer = 0;
  for (const scenario& s : some) {
    explorer all(s, false), pruned(s);
    for (unsigned bound = 0; bound <= 2; ++bound) {
      ASSERT_TRUE(all.search(bound, explorer::no_end) && pruned.search(bound, explorer::no_end));
    }
    EXPECT_TRUE(all.judged().saw_the_same(pruned.judged()))
        << s.name << ": " << all.judged().histories() << " and " << pruned.judged().histories() << " histories";
    fewer += all.covered().bounded() - pruned.covered().bounded();
  }
  EXPECT_GT(fewer, 0u);
}

TEST(explore_control, lookups_of_reused_slots_are_explored_to_the_end) {
  explore_to_the_end(batch_lookups(), "lookups, reuse", 1);
}

TEST(explore_control, records_that_are_found_in_slots_are_explored_to_the_end) {
  explore_to_the_end(pairs_of_verbs(), "pair r:", 1);
  explore_to_the_end(erase_and_reuse(), "reuse r:", 1);
}

TEST(explore_control, a_mover_whose_index_is_freed_is_explored_to_the_end) {
  explore_to_the_end(background_moves(), "mover, free by units", 1);
}

TEST(explore_control, a_mover_is_told_of_what_is_left_to_it) {
  explore_to_the_end(background_pairs(), "mover, shrink", 0);
}

TEST(explore_control, chains_that_are_zipped_and_unzipped_are_explored_to_the_end) {
  explore_to_the_end(relativistic_resizes(), "unzip lw:", 1);
  explore_to_the_end(relativistic_resizes(), "zip lw:", 1);
}

TEST(explore_control, two_writers_of_a_chain_are_explored_to_the_end) {
  explore_to_the_end(pairs_of_verbs(), "pair lw:", 1);
  explore_to_the_end(pairs_of_verbs(), "pair lr:", 1);
}

TEST(explore_control, values_that_are_read_while_they_are_written_are_explored_to_the_end) {
  explore_to_the_end(pairs_of_verbs(), "pair tw:", 1);
  explore_to_the_end(pairs_of_verbs(), "pair tl:", 1);
}

TEST(explore_control, tuples_being_written_that_a_mover_meets_are_explored_to_the_end) {
  explore_to_the_end(tuples_moves(), "array, grow tw:", 1);
  explore_to_the_end(tuples_being_written(), "tuple, long chain tl:", 0);
}

TEST(explore_control, writers_of_a_partition_are_explored_to_the_end) {
  explore_to_the_end(partitioned_writes(), "writes dp:", 1);
  explore_to_the_end(partitioned_writes(), "writes dp: 2 still; insert_or_assign k1=6", 2);
  explore_to_the_end(partitioned_rebuilds(), "grow dp:", 1);
  explore_to_the_end(partitioned_newcomers(), "newcomers dp:", 1);
}

TEST(explore_control, slots_of_a_back_yard_that_are_filled_again_are_explored_to_the_end) {
  explore_to_the_end(iceberg_reuse(), "torn pair ip:", 2);
  explore_to_the_end(iceberg_reuse(), "same back tag iw:", 2);
  explore_to_the_end(iceberg_reuse(), "front slot iw:", 2);
  explore_to_the_end(iceberg_reuse(), "marked back slot iw:", 2);
  explore_to_the_end(iceberg_reuse(), "chain again iw:", 2);
  explore_to_the_end(iceberg_reuse(), "chain of two fronts iw:", 2);
  for (const char* const table : {"iw", "ip", "it"}) {
    const std::string kind = std::string("back slot ") + table + ":";
    explore_to_the_end(iceberg_reuse(), kind, 1);
    // two full front buckets, with half as many slots if these are wide
    const std::string still = std::string(table) == "iw" ? "112" : "56";
    const std::string threads = " still; erase key 1, insert key 7=6 | find key 1";
    explore_and_draw(iceberg_reuse(), kind + " insert key 1=5; " + still + threads, 1, 40000);
  }
}

TEST(explore_control, buckets_that_split_and_merge_are_explored_to_the_end) {
  explore_to_the_end(iceberg_growth(), "split ip:", 1);
  explore_to_the_end(iceberg_merges(), "merge iw:", 1);
  explore_to_the_end(iceberg_growth(), "looked for, split iw:", 2);
  explore_to_the_end(iceberg_growth(), "changed, split iw:", 2);
  explore_to_the_end(iceberg_growth(), "scanned split iw:", 1);
  explore_to_the_end(iceberg_merges(), "scanned merge iw:", 1);
  explore_to_the_end(iceberg_merges(), "merge into a full bucket iw:", 1);
}

TEST(explore_control, a_growth_that_is_under_way_is_explored_to_the_end) {
  const std::vector<scenario> all = iceberg_growth_under_way();
  for (const char* const kind :
       {"split", "slot", "unsplit", "unsplit chain", "kept behind", "into a chain", "behind before its turn"})
    explore_to_the_end(all, std::string("under way, ") + kind + " iw:", 1);
  for (const char* const kind : {"to the front", "chain", "back", "back slot"})
    explore_to_the_end(all, std::string("under way, ") + kind + " iw:", 2);
  explore_to_the_end(all, "two under way, split iw:", 1);
}

TEST(explore_control, a_shrink_that_is_under_way_is_explored_to_the_end) {
  const std::vector<scenario> all = iceberg_shrink_under_way();
  for (const char* const kind : {"under way, merge iw:", "under way, back merge iw:", "two under way, merge iw:"})
    explore_to_the_end(all, kind, 1);
}

TEST(explore_control, entries_that_come_to_the_front_are_explored_to_the_end) {
  explore_to_the_end(iceberg_fronts(), "from the back iw:", 1);
  explore_to_the_end(iceberg_fronts(), "from a chain iw:", 1);
  explore_to_the_end(iceberg_fronts(), "looked for in the back iw:", 2);
  explore_to_the_end(iceberg_fronts(), "looked for in a chain iw:", 2);
  explore_to_the_end(iceberg_fronts(), "behind iw:", 1);
}

TEST(explore_control, entries_that_a_modify_holds_are_explored_to_the_end) {
  explore_to_the_end(iceberg_modifies(), "modify iw:", 1);
  explore_to_the_end(iceberg_modifies(), "modify behind iw:", 1);
}

/// Two threads that take two locks in opposite orders.
TEST(explore_control, a_deadlock_is_a_livelock_and_is_reported) {
  cubby::detail::small_lock<> first, second;
  driver& c = driver::instance();
  const auto body = [&](unsigned t) {
    cubby::detail::lock_scope outer(t == 0 ? first : second);
    cubby::detail::lock_scope inner(t == 0 ? second : first);
  };
  const schedule usual, crossing = {{0, 1, 2}};
  follower along(usual), across(crossing);
  EXPECT_EQ(c.run(2, body, along), ending::finished);
  EXPECT_EQ(c.run(2, body, across), ending::livelock);
}

/// A reader that never leaves keeps a table's thread waiting for good. What remains of such a run must not hold up the next ones:
/// those that shorten the schedule, and those of other scenarios.
TEST(explore_control, a_thread_that_waits_for_good_is_reported_and_the_next_table_goes_on) {
  std::vector<scenario> all = relativistic_background();
  std::erase_if(all, [](const scenario& s) { return s.table != table_kind::relativistic_records || s.ends; });
  ASSERT_FALSE(all.empty());
  scenario stuck = all.front();
  stuck.threads = {{{act::hold, stuck.before.front().key}}, {{act::find, stuck.before.front().key}}};
  explorer e(stuck);
  EXPECT_FALSE(e.search(0, explorer::no_end));
  ASSERT_TRUE(e.failed());
  EXPECT_NE(e.failed()->text.find("endless"), std::string::npos) << e.failed()->text;
  EXPECT_TRUE(e.failed()->where.ends_with("@")) << "no departure is needed: " << e.failed()->where;
  explorer next(all.front());
  EXPECT_TRUE(next.search(0, explorer::no_end)) << (next.failed() ? next.failed()->text : std::string());
}

TEST(explore, pairs_of_verbs) { explore_group("pairs of verbs", pairs_of_verbs(), 8); }
TEST(explore, pairs_on_two_keys) { explore_group("pairs on two keys", pairs_on_two_keys(), 6); }
TEST(explore, erase_and_reuse) { explore_group("erase and reuse", erase_and_reuse(), 6); }
TEST(explore, three_and_four_threads) { explore_group("three and four threads", three_and_four_threads(), 6); }
TEST(explore, keys_zero_to_three) { explore_group("keys 0 to 3", keys_zero_to_three(), 2); }
TEST(explore, batches) { explore_group("batches", batches(), 3); }
TEST(explore, batch_lookups) { explore_group("batch lookups", batch_lookups(), 5); }
TEST(explore, batch_lookups_meet_moves) { explore_group("lookups meet moves", batch_lookups_meet_moves(), 5); }
TEST(explore, retirement) { explore_group("retirement", retirement(), 4); }
TEST(explore, growth) { explore_group("growth", growth(), 9); }
TEST(explore, growth_without_memory) { explore_group("growth without memory", growth_without_memory(), 3); }
TEST(explore, chained_growth) { explore_group("chained growth", chained_growth(), 7); }
TEST(explore, background_pairs) { explore_group("background pairs", background_pairs(), 5); }
TEST(explore, background_moves) { explore_group("background moves", background_moves(), 6); }
TEST(explore, shrinking) { explore_group("shrinking", shrinking(), 5); }
TEST(explore, snapshots) { explore_group("snapshots", snapshots(), 3); }
TEST(explore, dramhit_moves) { explore_group("dramhit moves", dramhit_moves(), 8); }
TEST(explore, dramhit_lookups) { explore_group("dramhit lookups", dramhit_lookups_and_scans(), 3); }
TEST(explore, dramhit_pipelines) { explore_group("dramhit pipelines", dramhit_pipelines(), 4); }
TEST(explore, dramhit_background) { explore_group("dramhit background", dramhit_background(), 4); }
TEST(explore, tuples_moves) { explore_group("tuples moves", tuples_moves(), 7); }
TEST(explore, tuples_being_written) { explore_group("tuples being written", tuples_being_written(), 4); }
TEST(explore, tuples_lookups) { explore_group("tuples lookups", tuples_lookups_and_scans(), 3); }
TEST(explore, tuples_pipelines) { explore_group("tuples pipelines", tuples_pipelines(), 4); }
TEST(explore, tuples_background) { explore_group("tuples background", tuples_background(), 4); }
TEST(explore, relativistic_resizes) { explore_group("relativistic resizes", relativistic_resizes(), 8); }
TEST(explore, relativistic_casts) { explore_group("relativistic casts", relativistic_casts(), 5); }
TEST(explore, relativistic_looks) { explore_group("relativistic looks", relativistic_looks(), 3); }
TEST(explore, relativistic_modifies) { explore_group("relativistic modifies", relativistic_modifies(), 3); }
TEST(explore, relativistic_thread) { explore_group("relativistic thread", relativistic_background(), 3); }
TEST(explore, iceberg_reuse) { explore_group("iceberg reuse", iceberg_reuse(), 4); }
TEST(explore, iceberg_growth) { explore_group("iceberg growth", iceberg_growth(), 8); }
TEST(explore, iceberg_merges) { explore_group("iceberg merges", iceberg_merges(), 6); }
TEST(explore, iceberg_fronts) { explore_group("iceberg fronts", iceberg_fronts(), 5); }
TEST(explore, iceberg_modifies) { explore_group("iceberg modifies", iceberg_modifies(), 3); }
TEST(explore, iceberg_growth_under_way) { explore_group("iceberg growing", iceberg_growth_under_way(), 6); }
TEST(explore, iceberg_shrink_under_way) { explore_group("iceberg shrinking", iceberg_shrink_under_way(), 4); }
TEST(explore, seph_inserts) { explore_group("seph inserts", seph_inserts(), 6); }
TEST(explore, seph_splits) { explore_group("seph splits", seph_splits(), 7); }
TEST(explore, seph_rewrites) { explore_group("seph rewrites", seph_rewrites(), 4); }
TEST(explore, seph_merges) { explore_group("seph merges", seph_merges(), 5); }
TEST(explore, seph_looks) { explore_group("seph looks", seph_looks(), 4); }
TEST(explore, partitioned_writes) { explore_group("partitioned writes", partitioned_writes(), 4); }
TEST(explore, partitioned_rebuilds) { explore_group("partitioned rebuilds", partitioned_rebuilds(), 3); }
TEST(explore, partitioned_newcomers) { explore_group("partitioned newcomers", partitioned_newcomers(), 2); }
TEST(explore, scans) { explore_group("scans", scans(), 2); }

} // namespace
} // namespace cubby_test
