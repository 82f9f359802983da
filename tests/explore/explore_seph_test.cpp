// SPDX-License-Identifier: Apache-2.0
// The control over seph: groups of scenarios of which all schedules up to a bound are run, whatever time that takes. The settings of
// explore_test.cpp hold here, too.
#include <gtest/gtest.h>

#include "explore/groups.hpp"
#include "explore/scenarios.hpp"

namespace cubby_test {
namespace {

TEST(explore_seph, inserts_that_race_for_the_last_slots) {
  for (const char* const kind :
       {"last lower slot sw:", "last higher slot sw:", "last slot of a child sw:", "full sw:", "two lower slots sr:"})
    explore_to_the_end(seph_inserts(), kind, 1);
}
TEST(explore_seph, one_key_in_two_inserts_with_two_stops) {
  std::vector<scenario> all = seph_inserts();
  std::erase_if(all, [](const scenario& s) {
    return s.table != table_kind::seph_words || !s.name.ends_with(" insert k91=6 | insert k91=7");
  });
  explore_to_the_end(all, "last", 2);
}
TEST(explore_seph, inserts_beside_a_split_that_stands_still) {
  explore_to_the_end(seph_inserts(), "last lower slot, split under way sw:", 1);
  explore_to_the_end(seph_inserts(), "last higher slot, split under way sw:", 1);
}
TEST(explore_seph, splits) { explore_to_the_end(seph_splits(), "full sw:", 1); }
TEST(explore_seph, splits_that_stand_still) {
  explore_to_the_end(seph_splits(), "last higher slot, split under way sw:", 1);
}
TEST(explore_seph, two_splits_in_a_row) { explore_to_the_end(seph_splits(), "two in a row sw:", 1); }
TEST(explore_seph, rewrites) {
  explore_to_the_end(seph_rewrites(), "half dead sw:", 1);
  explore_to_the_end(seph_rewrites(), "last higher slot, rewrite under way sw:", 1);
}
TEST(explore_seph, merges) { explore_to_the_end(seph_merges(), "two small sw:", 1); }
TEST(explore_seph, scans_and_snapshots) {
  for (const char* const kind : {"full sw:", "half dead sw:", "two small sw:"})
    explore_to_the_end(seph_looks(), kind, 1);
}
TEST(explore_seph, records_that_readers_hold) {
  for (const char* const kind : {"full sr:", "half dead sr:", "two small sr:"})
    explore_to_the_end(seph_looks(), kind, 0);
}

} // namespace
} // namespace cubby_test
