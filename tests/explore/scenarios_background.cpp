// SPDX-License-Identifier: Apache-2.0
// Scenarios with a table that moves its entries by a thread of its own. There are pairs of verbs while it works, callers
// that need a bin before it gets there, growth through three indexes, and the table's end.
#include "explore/parts.hpp"
#include "explore/scenarios.hpp"

namespace cubby_test {
namespace {

scenario with_mover(table_kind table, script before) {
  scenario s = tiny(table, std::move(before));
  s.options.growth = cubby::growth_policy::background;
  s.options.chunk_bins = 16; // all of a small index, so that schedules stay short
  return s;
}

/// Growth from 8 bins has begun, because bin 2 was full: it has moved, and all others are left to the mover.
scenario growth_under_way(table_kind table, script before) {
  scenario s = with_mover(table, std::move(before));
  for (std::uint64_t n = 0; n < 15; ++n) s.still.emplace_back(key_at(n % 2 == 0 ? 0x4000 : 0x5000, 10 + n), 50 + n);
  s.before.push_back({act::insert, key_at(0x4000, 1), 5});
  s.under_way = true;
  return s;
}

/// Shrinking from 16 bins to 8 has begun, and all of it is left to the mover.
scenario shrinking_under_way(table_kind table, script before) {
  constexpr std::uint64_t elsewhere = 0x4000;
  scenario s = with_mover(table, {{act::reserve, 0, 20}, {act::insert, key_at(elsewhere, 1), 5}});
  s.options.shrink = cubby::shrink_policy::automatic;
  s.before.insert(s.before.end(), before.begin(), before.end());
  s.before.push_back({act::erase, key_at(elsewhere, 1)});
  s.under_way = true;
  return s;
}

void add_pairs(std::vector<scenario>& all, const std::string& name, const scenario& begun) {
  for (std::size_t a = 0; a < verbs_of_one_key; ++a) {
    for (std::size_t b = a; b < verbs_of_one_key; ++b) {
      scenario s = begun;
      s.threads = {{verb_number(a, k1, 6)}, {verb_number(b, k1, 7)}};
      add(all, name, std::move(s));
    }
  }
}

/// The first bin is full, and all link buckets are taken: a thread that inserts there moves it, if the mover does not.
void add_callers_in_need(std::vector<scenario>& all, table_kind table) {
  const auto full = [table] {
    scenario s = with_mover(table, {{act::insert, key_at(0x4000, 1), 5}});
    s.still = without_links();
    for (std::uint64_t n = 0; n < 3; ++n) {
      s.still.emplace_back(key_at(0, 10 + n), 50 + n);
      s.still.emplace_back(key_at(0x4000, 10 + n), 50 + n);
    }
    s.under_way = true;
    return s;
  };
  for (const act what :
       {act::insert, act::insert_or_assign, act::upsert, act::toggle, act::commit, act::abort, act::execute}) {
    scenario s = full();
    s.threads = {{what == act::execute ? verb_number(scripted_acts, k1, 6) : call{what, k1, 6}, {act::find, k1}}};
    add(all, "mover, need", s);
    s.threads.push_back({{act::insert, k2, 7}, {act::find, k1}});
    add(all, "mover, need", std::move(s));
  }
  scenario s = full();
  s.threads = {{{act::insert, k1, 6}}, {{act::insert, k1, 7}, {act::erase, k1}}};
  add(all, "mover, need", std::move(s));
}

void add_chains(std::vector<scenario>& all, table_kind table) {
  for (std::size_t a = 0; a < verbs_of_one_key; ++a) {
    scenario s = with_mover(table, {{act::insert, k1, 5}});
    s.still = full_bin(7, 7);
    s.threads = {{verb_number(a, k1, 6), {act::find, k1}}, {{act::insert, k3, 7}}};
    s.resizes = 2;
    add(all, "mover, chain", std::move(s));
  }
  for (const script& other : {script{{act::shrink}}, script{{act::reserve, 0, 40}}, script{{act::snapshot}},
                              script{{act::scan}}, script{{act::reserve, 0, 40}, {act::shrink}}}) {
    scenario s = with_mover(table, {{act::insert, k1, 5}});
    s.still = full_bin(7, 7);
    s.threads = {other, {{act::insert, k3, 7}, {act::erase, k1}}};
    s.resizes = 2;
    add(all, "mover, chain", std::move(s));
  }
}

/// Two callers want the same key in the bin that goes on to a third index: a thread that comes second has not inserted.
void add_rivals(std::vector<scenario>& all, table_kind table) {
  for (const act what : {act::insert, act::commit, act::upsert, act::toggle}) {
    scenario s = with_mover(table, {{act::insert, k1, 5}});
    s.still = full_bin(7, 7);
    s.threads = {{{what, k3, 6}}, {{act::insert, k3, 7}}};
    s.resizes = 2;
    add(all, "mover, rivals", std::move(s));
  }
}

/// Callers complete what the mover is at, and free the index that it may still look into.
void add_frees(std::vector<scenario>& all, table_kind table) {
  for (const script& freeing : {script{{act::shrink}}, script{{act::reserve, 0, 40}, {act::shrink}}}) {
    scenario s = growth_under_way(table, {{act::insert, k1, 5}});
    s.threads = {freeing};
    add(all, "mover, free", s);
    s.threads.push_back({{act::assign, k1, 6}});
    add(all, "mover, free", s);
    s.options.chunk_bins = 1;
    s.threads.pop_back();
    add(all, "mover, free by units", std::move(s));
  }
}

/// The last thread destroys the table, and with it waits for the mover.
void add_ends(std::vector<scenario>& all, table_kind table) {
  const auto end_of = [&all](scenario s, std::vector<script> threads, unsigned resizes) {
    s.threads = std::move(threads);
    s.ends = true;
    s.resizes = resizes;
    add(all, "mover, end", std::move(s));
  };
  scenario chain = with_mover(table, {{act::insert, k1, 5}});
  chain.still = full_bin(7, 7);
  scenario first = with_mover(table, {{act::insert, k1, 5}, {act::insert, k2, 5}});
  first.still = without_links();
  first.still.emplace_back(key_at(0, 9), 49);
  end_of(with_mover(table, {}), {{{act::find, k1}}}, 0);
  end_of(growth_under_way(table, {{act::insert, k1, 5}}), {{{act::find, k1}}}, 0);
  end_of(growth_under_way(table, {{act::insert, k1, 5}}), {{{act::assign, k1, 6}}, {{act::erase, k1}}}, 0);
  end_of(shrinking_under_way(table, {{act::insert, k1, 5}}), {{{act::assign, k1, 6}}, {{act::insert, k2, 7}}}, 0);
  end_of(first, {{{act::insert, k3, 7}}}, 1);
  end_of(first, {{{act::insert, k3, 7}}, {{act::extract, k1}, {act::insert, k1, 8}}}, 1);
  end_of(chain, {{{act::insert, k3, 7}}}, 2);
  end_of(chain, {{{act::insert, k3, 7}, {act::shrink}}, {{act::update, k1, 8}}}, 2);
}

} // namespace

std::vector<scenario> background_pairs() {
  std::vector<scenario> all;
  for (const table_kind table : our_tables) {
    add_pairs(all, "mover, growth", growth_under_way(table, {{act::insert, k1, 5}}));
    add_pairs(all, "mover, shrink", shrinking_under_way(table, {{act::insert, k1, 5}}));
  }
  return all;
}

std::vector<scenario> background_moves() {
  std::vector<scenario> all;
  for (const table_kind table : our_tables) {
    add_callers_in_need(all, table);
    add_chains(all, table);
    add_frees(all, table);
    add_rivals(all, table);
    add_ends(all, table);
    for (std::size_t a = 0; a < verbs_of_one_key; ++a) { // a caller begins it, and the mover takes a unit at a time
      scenario s = with_mover(table, {{act::insert, k1, 5}, {act::insert, k2, 5}});
      s.options.chunk_bins = 1;
      s.still = without_links();
      s.still.emplace_back(key_at(0, 9), 49);
      s.threads = {{verb_number(a, k1, 6), {act::find, k1}}, {{act::insert, k3, 7}}};
      s.resizes = 1;
      add(all, "mover, begun", std::move(s));
    }
  }
  return all;
}

} // namespace cubby_test
