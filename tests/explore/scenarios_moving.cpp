// SPDX-License-Identifier: Apache-2.0
// Scenarios in which callers move entries: growth by every policy but `background`, growth through three indexes at
// once, shrinking, snapshots, scans.
#include "explore/parts.hpp"
#include "explore/scenarios.hpp"

namespace cubby_test {
namespace {

using cubby::growth_policy;

/// Bins 0 and 1 of 16 become bin 0 of 8. Few enough entries are in them for a shrinking to begin. With those that
/// `late_inserts` adds before the bins move, they are too many for one bin.
std::vector<entry> nearly_overfull() {
  std::vector<entry> all;
  for (std::uint64_t n = 0; n < 6; ++n) all.emplace_back(key_at(0, 10 + n), 50 + n);
  for (std::uint64_t n = 0; n < 5; ++n) all.emplace_back(key_at(0x1000, 10 + n), 50 + n);
  return all;
}
script late_inserts() {
  script s;
  for (std::uint64_t n = 0; n < 5; ++n) s.push_back({act::insert, key_at(n < 3 ? 0 : 0x1000, 20 + n), 6});
  return s;
}

const std::vector<script>& triggers() {
  static const std::vector<script> all = {
      {{act::insert, k3, 7}, {act::find, k1}},
      {{act::insert, k3, 7}, {act::erase, k1}, {act::insert, k1, 5}},
      {{act::commit, k3, 7}, {act::find, k1}},
  };
  return all;
}

/// A `fixed` table of 12 places in which there are 12 entries with the three of the hot bin.
void leave_no_place(scenario& s) {
  s.still.resize(9);
  s.options.capacity = 12;
}

} // namespace

std::vector<scenario> growth() {
  std::vector<scenario> all;
  for (const table_kind table : our_tables) {
    for (const auto policy : {growth_policy::incremental, growth_policy::cooperative, growth_policy::fixed}) {
      for (std::size_t a = 0; a < verbs_of_one_key; ++a) {
        for (const script& trigger : triggers()) {
          scenario s = tiny(table, {{act::insert, k1, 5}, {act::insert, k2, 5}});
          const char* const name = policy == growth_policy::incremental   ? "growth"
                                   : policy == growth_policy::cooperative ? "growth, cooperative"
                                                                          : "growth, fixed";
          s.options.growth = policy;
          s.may_refuse = policy == growth_policy::fixed;
          s.resizes = policy == growth_policy::fixed ? 0 : 1;
          s.still = without_links();
          if (policy == growth_policy::fixed) leave_no_place(s);
          s.still.emplace_back(key_at(0, 9), 49);
          s.threads = {{verb_number(a, k1, 6), {act::find, k1}}, trigger};
          // Refused, they throw: the plain insert beside them shows the same.
          const bool throws = policy == growth_policy::fixed && (a == 5 || a == 7 || a == 8);
          if (!throws) add(all, name, std::move(s));
        }
      }
    }
    for (const auto& cast : std::vector<std::vector<script>>{
             {{{act::insert, k3, 6}}, {{act::insert, k4, 7}}, {{act::find, k1}, {act::find, k3}}},
             {{{act::insert, k3, 6}}, {{act::insert, k3, 7}}, {{act::assign, k1, 8}, {act::find, k3}}},
             {{{act::insert, k3, 6}, {act::insert, k4, 6}},
              {{act::erase, k1}},
              {{act::insert, k1, 7}, {act::find, k1}}}}) {
      scenario s = tiny(table, {{act::insert, k1, 5}, {act::insert, k2, 5}});
      s.still = without_links();
      s.still.emplace_back(key_at(0, 9), 49);
      s.threads = cast;
      s.resizes = 1;
      add(all, "growth, three", std::move(s));
    }
  }
  return all;
}

/// The smaller index is there, and a larger one for what does not fit it is not. A unit of two bins is given back. The
/// third thread sweeps meanwhile until it comes to the same unit, and inserts there.
static void add_refused_shrinking(std::vector<scenario>& all, table_kind table) {
  scenario s = tiny(table, {{act::reserve, 0, 20}});
  s.options.move_bins = 16;
  s.still = nearly_overfull();
  const std::uint64_t elsewhere = 0x8000, beside = 0x1000;
  s.threads = {late_inserts(),
               {{act::shrink}},
               {{act::insert, key_at(elsewhere, 1), 7},
                {act::insert, key_at(elsewhere, 2), 7},
                {act::insert, key_at(beside, 1), 7},
                {act::find, key_at(beside, 1)}}};
  s.may_refuse = true;
  s.indexes = 1;
  s.resizes = 1;
  add(all, "no memory, shrink", std::move(s));
}

std::vector<scenario> growth_without_memory() {
  std::vector<scenario> all;
  for (const table_kind table : our_tables) {
    for (std::size_t a = 0; a < 7; ++a) {
      if (a == 5) continue; // throws when it is refused
      scenario s = tiny(table, {{act::insert, k1, 5}, {act::insert, k2, 5}});
      s.still = without_links();
      s.still.emplace_back(key_at(0, 9), 49);
      s.threads = {{verb_number(a, k1, 6), {act::find, k1}}, {{act::insert, k3, 7}, {act::erase, k1}}};
      s.may_refuse = true;
      s.indexes = 0;
      add(all, "no memory", std::move(s));
    }
    // There is a larger index, but no third one: a unit that does not fit is given back.
    for (std::size_t a = 0; a < 5; ++a) {
      scenario s = tiny(table, {{act::insert, k1, 5}, {act::reserve, 0, 20}});
      s.still = full_bin(7, 7);
      s.threads = {{verb_number(a, k1, 6), {act::find, k1}}, {{act::insert, k3, 7}, {act::insert, k4, 7}}};
      s.may_refuse = true;
      s.indexes = 0;
      add(all, "no memory", std::move(s));
    }
    add_refused_shrinking(all, table);
  }
  return all;
}

/// The first bin is full in 8 bins and in 16, and parts in 32: one insert goes A, B, C, while a straggler is still in A.
std::vector<scenario> chained_growth() {
  std::vector<scenario> all;
  for (const table_kind table : our_tables) {
    for (const auto policy : {growth_policy::incremental, growth_policy::cooperative}) {
      for (std::size_t a = 0; a < verbs_of_one_key; ++a) {
        scenario s = tiny(table, {{act::insert, k1, 5}});
        s.options.growth = policy;
        s.still = full_bin(7, 7);
        s.threads = {{verb_number(a, k1, 6), {act::find, k1}}, {{act::insert, k3, 7}, {act::find, k1}}};
        s.resizes = 2;
        add(all, policy == growth_policy::incremental ? "chain" : "chain, cooperative", std::move(s));
      }
    }
    for (std::size_t a = 0; a < verbs_of_one_key; ++a) { // A, B, C by three sweeps, and A and B are freed behind it
      scenario s = tiny(table, {{act::insert, k1, 5}});
      s.threads = {{verb_number(a, k1, 6), {act::find, k1}},
                   {{act::reserve, 0, 20}, {act::reserve, 0, 40}, {act::shrink}}};
      s.resizes = 3;
      add(all, "chain, reserve", std::move(s));
    }
    scenario s = tiny(table, {{act::insert, k1, 5}});
    s.still = full_bin(7, 7);
    s.threads = {{{act::update, k1, 6}}, {{act::insert, k3, 7}}, {{act::insert, k4, 8}}};
    s.resizes = 2;
    add(all, "chain, three", std::move(s));
  }
  return all;
}

std::vector<scenario> shrinking() {
  std::vector<scenario> all;
  for (const table_kind table : our_tables) {
    for (std::size_t a = 0; a < verbs_of_one_key; ++a) {
      // Bins 0 and 1 of 16 become bin 0 of 8.
      scenario s = tiny(table, {{act::reserve, 0, 20}, {act::insert, k1, 5}});
      s.still = {{key_at(0x1000, 9), 49}};
      s.threads = {{verb_number(a, k1, 6), {act::find, k1}}, {{act::shrink}, {act::find, k1}}};
      s.resizes = 1;
      add(all, "shrink", std::move(s));
    }
    for (const auto& cast : std::vector<std::vector<script>>{
             {{{act::insert, k2, 6}}, {{act::shrink}}, {{act::erase, k1}, {act::find, k2}}},
             {{{act::shrink}}, {{act::reserve, 0, 40}}, {{act::assign, k1, 6}}},
             {{{act::shrink}}, {{act::shrink}}, {{act::insert, k2, 6}}}}) {
      scenario s = tiny(table, {{act::reserve, 0, 20}, {act::insert, k1, 5}});
      s.threads = cast;
      s.resizes = 1;
      add(all, "shrink, three", std::move(s));
    }
    // What comes together in a bin of 8 does not fit there: the unit goes on to a larger index.
    scenario s = tiny(table, {{act::reserve, 0, 20}});
    s.still = nearly_overfull();
    s.threads = {late_inserts(), {{act::shrink}}, {{act::insert, k1, 6}, {act::update, k1, 7}, {act::find, k1}}};
    s.resizes = 2;
    add(all, "shrink, too full", std::move(s));
  }
  return all;
}

std::vector<scenario> snapshots() {
  const std::vector<std::vector<script>> casts = {
      {{{act::insert, k1, 6}, {act::insert, k2, 7}}, {{act::snapshot}}},
      {{{act::erase, k3}, {act::insert, k1, 7}}, {{act::snapshot}}},
      {{{act::assign, k3, 6}, {act::assign, k4, 7}}, {{act::snapshot}}},
      {{{act::update, k3, 6}, {act::extract, k4}}, {{act::snapshot}}},
      {{{act::commit, k1, 6}, {act::abort, k2, 7}}, {{act::snapshot}}},
      {{{act::upsert, k3, 6}, {act::toggle, k4, 7}}, {{act::snapshot}}},
      {{{act::insert, k1, 6}}, {{act::insert, k2, 7}}, {{act::snapshot}}},
      {{{act::assign, k3, 6}}, {{act::snapshot}}, {{act::snapshot}}},
      {{{act::insert, k1, 6}}, {{act::reserve, 0, 20}}, {{act::snapshot}}},
  };
  std::vector<scenario> all;
  for (const table_kind table : every_table) {
    for (const auto& cast : casts) {
      scenario s = tiny(table, {{act::insert, k3, 5}, {act::insert, k4, 5}});
      s.threads = cast;
      s.resizes = table == table_kind::words || table == table_kind::records ? 1 : 0;
      add(all, "snapshot", std::move(s));
    }
  }
  for (const table_kind table : our_tables) { // keys of different bins, in the middle of growth
    scenario s = tiny(table, {});
    s.still = without_links();
    s.threads = {{{act::insert, k1, 6}, {act::insert, key_at(0x4000, 2), 7}}, {{act::snapshot}}};
    add(all, "snapshot", std::move(s));
  }
  return all;
}

std::vector<scenario> scans() {
  const std::uint64_t far = key_at(0x3000, 1);
  const std::vector<std::vector<script>> casts = {
      {{{act::scan}}, {{act::insert, k1, 6}, {act::erase, k1}}},
      {{{act::scan}}, {{act::reserve, 0, 20}}},
      {{{act::scan}}, {{act::reserve, 0, 20}, {act::shrink}}},
      {{{act::scan}}, {{act::insert, far, 6}, {act::reserve, 0, 20}}},
      {{{act::scan}}, {{act::reserve, 0, 20}}, {{act::erase, k2}, {act::insert, k2, 7}}},
  };
  std::vector<scenario> all;
  for (const table_kind table : our_tables) {
    for (const auto& cast : casts) {
      scenario s = tiny(table, {{act::insert, k2, 5}});
      s.still = {{key_at(0, 9), 49}, {key_at(0x1000, 9), 49}, {key_at(0xe000, 9), 49}};
      s.threads = cast;
      add(all, "scan", std::move(s));
    }
  }
  return all;
}

} // namespace cubby_test
