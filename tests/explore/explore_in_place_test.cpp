// SPDX-License-Identifier: Apache-2.0
// The control over values that are changed in place: all schedules up to a bound of two and three threads that use one key. The
// settings of explore_test.cpp hold here, too.
#include <gtest/gtest.h>

#include "explore/groups.hpp"
#include "explore/parts.hpp"

namespace cubby_test {
namespace {

constexpr table_kind in_place_tables[] = {table_kind::in_place, table_kind::in_place_relativistic};
constexpr act calls[] = {act::find,  act::contains,         act::visit_batch, act::extract, act::insert,   act::assign,
                         act::erase, act::insert_or_assign, act::modify,      act::upsert,  act::erase_if, act::abort,
                         act::scan};

std::vector<scenario> pairs() {
  std::vector<scenario> all;
  for (const table_kind table : in_place_tables) {
    for (const act a : calls) {
      for (const act b : calls) {
        if (b < a) continue;
        for (const bool present : {false, true}) {
          scenario s = tiny(table, present ? script{{act::insert, k1, 5}} : script{});
          s.threads = {{{a, k1, 6}, {act::find, k1}}, {{b, k1, 7}, {act::find, k1}}};
          add(all, present ? "pair, present" : "pair, absent", std::move(s));
        }
      }
    }
  }
  return all;
}

std::vector<scenario> erased_and_inserted_again() {
  const std::vector<script> opponents = {{{act::erase, k1}, {act::insert, k1, 8}, {act::find, k1}},
                                         {{act::extract, k1}, {act::upsert, k1, 8}, {act::modify, k1, 9}},
                                         {{act::erase, k1}, {act::abort, k1, 8}, {act::insert, k1, 9}}};
  std::vector<scenario> all;
  for (const table_kind table : in_place_tables) {
    for (const act a : calls) {
      for (const script& opponent : opponents) {
        scenario s = tiny(table, {{act::insert, k1, 5}});
        s.threads = {{{a, k1, 6}, {act::find, k1}}, opponent};
        add(all, "again", std::move(s));
      }
    }
  }
  return all;
}

std::vector<scenario> three_threads() {
  const std::vector<std::vector<script>> all_of_them = {
      {{{act::modify, k1, 6}}, {{act::erase, k1}}, {{act::upsert, k1, 7}, {act::find, k1}}},
      {{{act::abort, k1, 6}}, {{act::insert, k1, 7}}, {{act::contains, k1}, {act::find, k1}}},
      {{{act::insert, k1, 6}}, {{act::extract, k1}}, {{act::insert_or_assign, k1, 7}}},
      {{{act::modify, k1, 6}}, {{act::find, k1}}, {{act::erase_if, k1}, {act::insert, k1, 7}}},
      {{{act::modify, k1, 6}}, {{act::modify, k1, 7}}, {{act::find, k1}, {act::find, k1}}}};
  std::vector<scenario> all;
  for (const std::vector<script>& threads : all_of_them) {
    scenario s = tiny(table_kind::in_place, {{act::insert, k1, 5}});
    s.threads = threads;
    add(all, "three", std::move(s));
  }
  return all;
}

/// Inserts that make the bin overflow, so that the table grows beside the holds.
std::vector<scenario> growing() {
  std::vector<scenario> all;
  for (const act a : {act::find, act::modify, act::extract, act::upsert}) {
    scenario s = tiny(table_kind::in_place, {});
    for (const auto& [key, value] : without_links()) s.before.push_back({act::insert, key, value});
    for (const std::uint64_t key : {k1, k2, k3}) s.before.push_back({act::insert, key, 5});
    s.threads = {{{act::insert, k4, 5}}, {{a, k1, 7}, {act::find, k1}}};
    s.resizes = 1;
    add(all, "grows", std::move(s));
  }
  return all;
}

TEST(explore_in_place, pairs_of_calls_on_a_key_that_is_there) { explore_to_the_end(pairs(), "pair, present", 2); }
TEST(explore_in_place, pairs_of_calls_on_a_key_that_is_not) { explore_to_the_end(pairs(), "pair, absent", 2); }
TEST(explore_in_place, keys_that_are_erased_and_inserted_again) {
  explore_to_the_end(erased_and_inserted_again(), "again", 2);
}
TEST(explore_in_place, three_threads) { explore_to_the_end(three_threads(), "three", 2); }
TEST(explore_in_place, growth_beside_holds) { explore_to_the_end(growing(), "grows", 1); }

} // namespace
} // namespace cubby_test
