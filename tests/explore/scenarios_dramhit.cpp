// SPDX-License-Identifier: Apache-2.0
// Scenarios in which entries of a DRAMHiT table, slots or tuples, go from array to array. There are growth, rebuilds of
// the same size, chains of three arrays with a straggler, and shrinking. Lookups and scans run meanwhile. One table has a
// thread of its own. The value 1 is also what seals an empty slot. Tuples also stand in the hand of the thread that fills
// or writes them.
#include <span>

#include "explore/parts.hpp"
#include "explore/scenarios.hpp"

namespace cubby_test {
namespace {

using kinds = std::span<const table_kind>;

bool holds_tuples(table_kind table) { return table == table_kind::tuple_words || table == table_kind::tuple_lines; }

/// So many of the first 64 slots, or tuples, crowd them: an insert with a long search then makes the next array.
constexpr unsigned crowded = 53;
/// Entries for which 80 and 120 slots are made, and so many of 80 that crowd them.
constexpr std::uint64_t for_80_slots = 60, for_120_slots = 90;
constexpr unsigned crowded_80_slots = 65;

/// Keys about which it is asked while they move. To slots the key 1 is a mark.
std::vector<std::uint64_t> keys_of(table_kind table) {
  return holds_tuples(table) ? std::vector{k1} : std::vector{k1, std::uint64_t{1}};
}

/// Entries of other lines, of each of the two units of slots, or of three units of tuples.
std::vector<entry> apart() { return {{key_at(0x2000, 9), 49}, {key_at(0x9000, 9), 49}, {key_at(0xf000, 9), 49}}; }

void add_growth(std::vector<scenario>& all, table_kind table, std::size_t a, std::uint64_t key) {
  scenario s = tiny(table, {{act::insert, key, 5}});
  s.still = apart();
  s.resizes = 1;
  s.threads = {{verb_number(a, key, 1), {act::find, key}}, {{act::reserve, 0, for_80_slots}}};
  add(all, "array, grow", s);
  s.before.clear();
  add(all, "array, grow", s);
  s.threads[1] = {{act::reserve, 0, for_80_slots}, {act::reserve, 0, for_120_slots}, {act::shrink}};
  s.resizes = 3;
  s.before = {{act::insert, key, 5}};
  add(all, "array, there and back", s);
  s.before.insert(s.before.begin(), {act::reserve, 0, for_80_slots});
  s.threads[1] = {{act::shrink}, {act::find, key}};
  s.resizes = 1;
  add(all, "array, shrink", std::move(s));
}

/// An array that the dead crowd is rebuilt, a unit with each write, or all by one.
scenario rebuilt(table_kind table) {
  scenario s = tiny(table, {});
  s.gone = crowded - 1;
  s.before = {{act::insert, k1, 5}};
  s.resizes = 1;
  return s;
}

void add_rebuilds(std::vector<scenario>& all, table_kind table, std::size_t a) {
  for (const auto policy : {cubby::growth_policy::incremental, cubby::growth_policy::cooperative}) {
    scenario s = rebuilt(table);
    s.options.growth = policy;
    s.threads = {{verb_number(a, k1, 1), {act::find, k1}}, {{act::insert, k3, 7}, {act::erase, k1}, {act::find, k3}}};
    add(all, policy == cubby::growth_policy::incremental ? "array, rebuild" : "array, rebuild at once", s);
    if (policy == cubby::growth_policy::cooperative) continue;
    s.threads = {{verb_number(a, k3, 1), {act::find, k3}}, {{act::insert, k3, 7}, {act::insert, k1, 8}}};
    add(all, "array, rebuild", s);
    s.indexes = 0;
    s.may_refuse = true;
    s.resizes = 0;
    add(all, "array, no memory", std::move(s));
  }
}

/// A thread rebuilds the first array, another thread shrinks the second into a third, and a straggler is in the first.
void add_chains(std::vector<scenario>& all, table_kind table, std::size_t a) {
  scenario s = tiny(table, {{act::reserve, 0, for_80_slots}, {act::insert, k1, 5}});
  s.gone = crowded_80_slots - 1;
  s.threads = {{{act::insert, k3, 7}}, {{act::shrink}}, {verb_number(a, k1, 1), {act::find, k1}}};
  s.resizes = 2;
  add(all, "array, chain", std::move(s));
}

void add_casts(std::vector<scenario>& all, table_kind table) {
  for (const auto& cast : std::vector<std::vector<script>>{
           {{{act::insert, k3, 6}}, {{act::insert, k3, 1}}, {{act::find, k1}, {act::find, k3}}},
           {{{act::insert, k3, 6}}, {{act::insert, k4, 7}}, {{act::erase, k1}, {act::insert, k1, 1}}},
           {{{act::insert, k3, 6}}, {{act::reserve, 0, for_80_slots}}, {{act::assign, k1, 1}, {act::find, k1}}}}) {
    scenario s = rebuilt(table);
    s.threads = cast;
    add(all, "array, three", std::move(s));
  }
  // One change goes past the free slot that ends the chain while an insert of the key is about to take it.
  for (const act change : {act::erase, act::assign, act::toggle, act::upsert}) {
    scenario s = tiny(table, {{act::insert, k1, 5}});
    s.threads = {{{act::insert, k3, 6}, {act::find, k3}},
                 {{change, k3, 7}, {act::insert, k3, 8}, {change, k3, 9}, {act::find, k3}},
                 {{act::reserve, 0, for_80_slots}}};
    s.resizes = 1;
    add(all, "array, open end", std::move(s));
  }
}

call piped(const std::vector<call>& requests) { return {act::pipeline, 0, 0, requests}; }

/// What a pipeline with a window of two is handed: on one key, on two, on keys that are marks as words.
const std::vector<call>& pipelines() {
  static const std::vector<call> all = {
      piped({{act::find, k1}, {act::find, k3}, {act::find, k1}}),
      piped({{act::insert, k3, 6}, {act::erase, k1}, {act::find, k3}}),
      piped({{act::erase, k1}, {act::insert, k1, 1}, {act::find, k1}}),
      piped({{act::assign, k1, 6}, {act::insert, k3, 1}, {act::assign, k1, 7}}),
      piped({{act::insert, 1, 6}, {act::erase, k1}, {act::find, 1}}),
  };
  return all;
}

call lookups(act how) {
  call c{how, 0, 0, {}};
  for (const std::uint64_t key : {k1, k3, key_at(0x9000, 9)}) c.inner.push_back({act::find, key});
  return c;
}

/// A writer or an insert has begun to write its tuple, while a mover and a third thread come by.
void add_hands(std::vector<scenario>& all, table_kind table) {
  for (const auto& [writes, key] : {std::pair{act::assign, k1}, std::pair{act::insert, k3}}) {
    scenario s = tiny(table, {{act::insert, k1, 5}});
    s.resizes = 1;
    s.threads = {{{writes, key, 6}}, {{act::reserve, 0, for_80_slots}}, {}};
    for (std::size_t a = 0; a < verbs_of_one_key; ++a) {
      s.threads[2] = {verb_number(a, key, 7), {act::find, key}};
      add(all, "tuple, being written", s);
    }
    for (const act how : {act::find_batch, act::visit_batch}) {
      s.threads[2] = {{how, 0, 0, {{act::find, k1}, {act::find, k3}}}};
      add(all, "tuple, being written", s);
    }
    s.threads[2] = {{act::scan}};
    add(all, "tuple, being written", s);
    s.threads[2] = {{act::reserve, 0, for_120_slots}, {act::shrink}}; // which wait for the tuple that is being written
    add(all, "tuple, being written", std::move(s));
  }
}

/// An insert is filling a tuple, before one of another key in their chain, when a mover comes: that one must be met whether
/// the first is given up or not.
void add_given_up(std::vector<scenario>& all, table_kind table) {
  scenario s = tiny(table, {{act::insert, k1, 5}});
  s.resizes = 1;
  for (const act change : {act::find, act::assign, act::erase, act::insert}) {
    s.threads = {{{act::insert, k3, 6}, {change, k4, 8}}, {{act::insert, k4, 7}, {act::reserve, 0, for_80_slots}}};
    add(all, "tuple, given up", s);
    s.threads.push_back({{act::erase, k1}, {change, k4, 9}});
    add(all, "tuple, given up", s);
  }
}

/// The chain of a key ends in another unit than it begins in: part of it has moved when the rest has not.
void add_long_chains(std::vector<scenario>& all, table_kind table) {
  constexpr unsigned tuples_of_a_unit = 16; // of words; of lines it is two units
  for (std::size_t a = 0; a < verbs_of_one_key; ++a) {
    scenario s = tiny(table, {{act::insert, k1, 5}});
    s.gone = tuples_of_a_unit;
    s.threads = {{verb_number(a, k3, 6), {act::insert, k3, 7}, {act::find, k3}}, {{act::reserve, 0, for_80_slots}}};
    s.resizes = 1;
    add(all, "tuple, long chain", s);
    s.threads.push_back({{act::erase, k1}, {act::insert, k3, 8}});
    add(all, "tuple, long chain", std::move(s));
  }
}

/// The mover, which has all of the table to do, has not begun.
scenario left_to_the_mover(table_kind table) {
  scenario s = rebuilt(table);
  s.options.growth = cubby::growth_policy::background;
  s.options.chunk_bins = 64; // all units at once, so that schedules stay short
  s.gone = crowded + 1;
  s.under_way = true;
  s.resizes = 0;
  return s;
}

std::vector<scenario> moves_of(kinds tables) {
  std::vector<scenario> all;
  for (const table_kind table : tables) {
    for (std::size_t a = 0; a < verbs_of_one_key; ++a) {
      for (const std::uint64_t key : keys_of(table)) add_growth(all, table, a, key);
      add_rebuilds(all, table, a);
      add_chains(all, table, a);
    }
    add_casts(all, table);
  }
  return all;
}

std::vector<scenario> lookups_and_scans_of(kinds tables) {
  std::vector<scenario> all;
  const std::vector<script> movers = {
      {{act::reserve, 0, for_80_slots}, {act::insert, k3, 1}},
      {{act::reserve, 0, for_80_slots}, {act::erase, k1}, {act::insert, k1, 1}, {act::shrink}},
      {{act::reserve, 0, for_80_slots}, {act::reserve, 0, for_120_slots}},
  };
  for (const table_kind table : tables) {
    for (const script& mover : movers) {
      for (const act how : {act::find_batch, act::visit_batch, act::scan}) {
        scenario s = tiny(table, {{act::insert, k1, 5}});
        s.still = apart();
        s.threads = {{how == act::scan ? call{act::scan} : lookups(how)}, mover};
        s.resizes = 1;
        add(all, "array, looks", s);
        s.still.clear();
        s.gone = crowded - 1;
        if (how != act::scan) s.threads[0] = {call{how, 0, 0, {{act::find, k1}, {act::find, k3}}}};
        s.threads[1] = {{act::insert, k3, 1}, {act::erase, k1}, {act::insert, k1, 8}};
        add(all, "array, looks, rebuild", std::move(s));
      }
    }
  }
  return all;
}

/// Pipelines beside a thread of single calls, beside each other, while the array moves, and while arrays are freed that a
/// pending request may be in.
std::vector<scenario> pipelines_of(kinds tables) {
  std::vector<scenario> all;
  const std::vector<script> others = {
      {{act::insert, k1, 7}, {act::erase, k3}},
      {{act::erase, k1}, {act::insert, k1, 8}, {act::insert, k3, 9}},
      {{act::reserve, 0, for_80_slots}, {act::find, k1}},
      {{act::reserve, 0, for_80_slots}, {act::assign, k1, 9}, {act::shrink}},
  };
  for (const table_kind table : tables) {
    for (const call& one : pipelines()) {
      for (const script& other : others) {
        scenario s = tiny(table, {{act::insert, k1, 5}});
        s.threads = {{one}, other};
        s.resizes = other.front().what == act::reserve ? 1 : 0;
        add(all, "pipeline", s);
        s = rebuilt(table);
        s.threads = {{one}, {{act::insert, k4, 7}, {act::erase, k1}}};
        if (other.front().what == act::insert) add(all, "pipeline, rebuild", std::move(s));
      }
      for (const call& two : pipelines()) {
        scenario s = tiny(table, {{act::insert, k1, 5}});
        s.threads = {{one}, {two}};
        add(all, "pipelines", std::move(s));
      }
    }
  }
  return all;
}

std::vector<scenario> background_of(kinds tables) {
  std::vector<scenario> all;
  for (const table_kind table : tables) {
    for (std::size_t a = 0; a < verbs_of_one_key; ++a) {
      scenario s = left_to_the_mover(table);
      s.threads = {{verb_number(a, k1, 1), {act::find, k1}}};
      add(all, "array, mover", s);
      s.threads.push_back({{act::insert, k3, 7}, {act::erase, k1}});
      add(all, "array, mover", std::move(s));
    }
    for (const script& other : {script{{act::shrink}}, script{{act::reserve, 0, for_80_slots}, {act::shrink}},
                                script{{act::scan}}, script{{act::reserve, 0, for_120_slots}}}) {
      scenario s = left_to_the_mover(table);
      s.threads = {other, {{act::assign, k1, 1}, {act::find, k1}}};
      add(all, "array, mover", s);
      s.options.chunk_bins = 1;
      add(all, "array, mover by units", s);
      s.ends = true;
      add(all, "array, mover, end", std::move(s));
    }
  }
  return all;
}

} // namespace

std::vector<scenario> dramhit_moves() { return moves_of(dramhit_tables); }
std::vector<scenario> dramhit_lookups_and_scans() { return lookups_and_scans_of(dramhit_tables); }
std::vector<scenario> dramhit_pipelines() { return pipelines_of(dramhit_tables); }
std::vector<scenario> dramhit_background() { return background_of(dramhit_tables); }

std::vector<scenario> tuples_moves() { return moves_of(tuple_tables); }
std::vector<scenario> tuples_being_written() {
  std::vector<scenario> all;
  for (const table_kind table : tuple_tables) {
    add_hands(all, table);
    add_given_up(all, table);
    add_long_chains(all, table);
  }
  return all;
}
std::vector<scenario> tuples_lookups_and_scans() { return lookups_and_scans_of(tuple_tables); }
std::vector<scenario> tuples_pipelines() { return pipelines_of(tuple_tables); }
std::vector<scenario> tuples_background() { return background_of(tuple_tables); }

} // namespace cubby_test
