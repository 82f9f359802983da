// SPDX-License-Identifier: Apache-2.0
// Scenarios over iceberg tables that move when the threads begin: a script takes one unit of the move, so that the move goes on behind
// it. A lookup then stands still but once to miss what the unit moves.
#include "explore/iceberg_keys.hpp"
#include "explore/scenarios.hpp"

namespace cubby_test {
namespace {

// A shrink has two units, of which the first is that of the keys. A growth has two of front buckets, then two of back buckets and chains.
constexpr std::uint64_t fronts = 2;
constexpr call doubles{act::resize, 0, 2 * fronts}, halves{act::resize, 0, fronts}, one_unit{act::pass, 0, 1};
constexpr call all_fronts{act::pass, 0, fronts}, but_the_first{act::pass, 0, 2 * fronts - 1};

void add_under_way(std::vector<scenario>& all, const std::string& name, const scenario& like,
                   const std::vector<std::vector<script>>& casts, const script& mover = {one_unit}) {
  for (const auto& cast : casts) {
    scenario s = like;
    s.threads = cast;
    s.threads.push_back(mover);
    add(all, name, std::move(s));
  }
}

trio of_the_first_unit(table_kind table) {
  key_chooser keys(table, fronts);
  const auto goes = [](std::uint64_t where) {
    return [=](const key_facts& f) { return f.residue == 0 && f.up == where; };
  };
  const std::uint64_t low = keys.next(goes(0)), up = keys.next(goes(1));
  return {low, up, keys.next(goes(1))};
}

/// Keys of the first back bucket: `up` goes up when it splits, and `low` stays; their other back bucket is of the second unit. `more` goes up
/// and has no other one.
struct back_keys {
  std::uint64_t up = 0, low = 0, more = 0;
};
/// The front bucket is full of entries that go where the keys go.
back_keys behind_a_full_front(scenario& s, std::uint64_t where) {
  const table_kind table = s.table;
  key_chooser keys(table, fronts);
  const auto goes = [&](std::uint64_t back_where, std::uint64_t other) {
    return keys.next([=](const key_facts& f) {
      const bool second = f.back[1] == other && (other == 1 || f.back_up[1] == back_where);
      return f.residue == 0 && f.up == where && f.back[0] == 0 && second && f.back_up[0] == back_where;
    });
  };
  const back_keys out{goes(1, 1), goes(0, 1), goes(1, 0)};
  for (std::uint64_t key = 60000; s.still.size() != front_slots(table); ++key) {
    const key_facts f = facts_of(table, key, fronts);
    const bool same_tag = f.tag % 64 == facts_of(table, out.up, fronts).tag % 64 ||
                          f.tag % 64 == facts_of(table, out.low, fronts).tag % 64;
    if (f.residue == 0 && f.up == where && !same_tag) s.still.emplace_back(key, 50);
  }
  return out;
}

/// A key whose front bucket and back bucket are full, and another one of the same front bucket. The move begins with the threads. Two move: the
/// chain may be emptied while the front bucket is locked, which has yet to split.
scenario into_a_chain(table_kind table) {
  scenario s = yard(table, fronts);
  key_chooser keys(table, fronts);
  const std::uint64_t late =
      keys.next([](const key_facts& f) { return f.residue == 0 && f.back[0] + f.back[1] == 0 && !f.odd_chain; });
  const std::uint64_t next =
      keys.next([&](const key_facts& f) { return f.residue == 0 && f.up == facts_of(table, late, fronts).up; });
  keys.fill(0, front_slots(table), s.still);
  keys.fill(0, yards::back_slots, s.still, 0);
  s.threads = {{{act::insert, late, 6}, {act::find, late}},
               {doubles, one_unit},
               {but_the_first, {act::insert, next, 7}, {act::find, late}}};
  return s;
}

/// A key whose front bucket is full, and whose back bucket is empty and keeps it in a split. The growth has begun. Two threads move: the
/// back bucket may split while the front bucket has yet to.
scenario behind_before_its_turn(table_kind table) {
  scenario s = yard(table, fronts);
  key_chooser keys(table, fronts);
  const std::uint64_t late = keys.next([](const key_facts& f) {
    return f.residue == 0 && f.back[0] + f.back[1] == 0 && f.back_up[0] + f.back_up[1] == 0;
  });
  const std::uint64_t next =
      keys.next([&](const key_facts& f) { return f.residue == 0 && f.up == facts_of(table, late, fronts).up; });
  keys.fill(0, front_slots(table), s.still);
  s.at_last = {doubles};
  s.threads = {{{act::insert, late, 6}, {act::find, late}},
               {one_unit},
               {but_the_first, {act::insert, next, 7}, {act::find, late}}};
  return s;
}

call batch_of(std::initializer_list<std::uint64_t> keys) {
  call c{act::find_batch, 0, 0, {}};
  for (const std::uint64_t key : keys) c.inner.push_back({act::find, key});
  return c;
}
std::vector<std::vector<script>> beside_one(std::uint64_t key) {
  return {
      {{{act::find, key}}},
      {{batch_of({key})}},
      {{{act::assign, key, 6}, {act::find, key}}},
      {{{act::extract, key}, {act::find, key}}},
      {{{act::insert, key, 6}}},
      {{{act::toggle, key, 7}}},
  };
}
/// One thread beside the mover, and two.
void add_both(std::vector<scenario>& all, const std::string& what, const scenario& like, const trio& k) {
  for (const std::uint64_t key : {k.low, k.up}) add_under_way(all, "under way, " + what, like, beside_one(key));
  add_under_way(all, "under way, " + what, like, {{{batch_of({k.low, k.up, k.more})}}});
  add_under_way(all, "under way, " + what, like, {{{{act::insert, k.more, 6}, {act::find, k.more}}}, {{{act::scan}}}});
  std::vector<std::vector<script>> two = beside(k.low, k.up, k.more);
  std::erase_if(two, [](const auto& cast) { return cast.size() == 1; });
  add_under_way(all, "two under way, " + what, like, two);
}
/// Is inserted into the slot that `up` leaves in a split.
std::uint64_t to_the_slot_of_up(table_kind table, const trio& k) {
  key_chooser others(table, fronts);
  const key_facts up = facts_of(table, k.up, fronts);
  return others.next([&](const key_facts& f) {
    return f.residue == 0 && f.up == 0 && f.slot == up.slot && f.tag != facts_of(table, k.low, fronts).tag;
  });
}

} // namespace

/// A growth of which one unit is moved. Front buckets split, or entries come to the front from the back yard or a chain, or a back
/// bucket splits because the front is full.
std::vector<scenario> iceberg_growth_under_way() {
  std::vector<scenario> all;
  for (const table_kind table : iceberg_tables) {
    const trio k = of_the_first_unit(table);
    scenario s = yard(table, fronts);
    s.before = put({k.low, k.up});
    s.at_last = {doubles};
    add_both(all, "split", s, k);
    add_under_way(all, "under way, slot", s, {{{{act::find, k.up}}}, {{{act::assign, k.up, 6}}}},
                  {one_unit, {act::insert, to_the_slot_of_up(table, k), 7}});
    for (const bool in_chain : {false, true}) {
      trio b{};
      scenario behind = left_behind(table, fronts, in_chain, b);
      behind.at_last = {doubles, all_fronts};
      const std::string name = in_chain ? "under way, chain" : "under way, to the front";
      add_under_way(all, name, behind, beside_one(b.low));
      add_under_way(all, name, behind, beside_one(b.up));
      // The front bucket has yet to split: who empties the back bucket does it.
      scenario early = left_behind(table, fronts, in_chain, b);
      early.at_last = {doubles};
      const char* const unsplit = in_chain ? "under way, unsplit chain" : "under way, unsplit";
      add_under_way(all, unsplit, early, {{{{act::find, b.up}}, {one_unit}}, {{{act::extract, b.low}}, {one_unit}}},
                    {but_the_first});
    }
    scenario full = yard(table, fronts);
    const back_keys two = behind_a_full_front(full, 0);
    full.before = put({two.up});
    full.at_last = {doubles, all_fronts};
    add_under_way(all, "under way, back", full, beside_one(two.up));
    add_under_way(all, "under way, back", full, {{{{act::insert, two.more, 6}, {act::find, two.more}}}});
    add_under_way(all, "under way, kept behind", full, {{{{act::find, two.up}}}},
                  {all_fronts, {act::insert, two.low, 7}, {act::find, two.up}});
    add(all, "under way, behind before its turn", behind_before_its_turn(table));
    add(all, "under way, into a chain", into_a_chain(table));
    add_under_way(all, "under way, back slot", full, {{{{act::find, two.up}}}}, {one_unit, {act::insert, two.low, 7}});
  }
  return all;
}

/// A shrink of which one unit is moved: front buckets that merge, and a back bucket that merges.
std::vector<scenario> iceberg_shrink_under_way() {
  std::vector<scenario> all;
  for (const table_kind table : iceberg_tables) {
    const trio k = of_the_first_unit(table);
    scenario s = yard(table, fronts);
    s.before = {{act::reserve, 0, for_four(table)}};
    for (const call& c : put({k.low, k.up})) s.before.push_back(c);
    s.at_last = {halves};
    add_both(all, "merge", s, k);
    scenario full = yard(table, fronts);
    const back_keys two = behind_a_full_front(full, 1);
    full.before = {{act::reserve, 0, for_four(table)}, {act::insert, two.up, 5}};
    full.at_last = {halves};
    add_under_way(all, "under way, back merge", full, beside_one(two.up));
  }
  return all;
}

} // namespace cubby_test
