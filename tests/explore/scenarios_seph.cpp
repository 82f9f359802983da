// SPDX-License-Identifier: Apache-2.0
// Scenarios over seph tables whose halves have one bucket, of two slots for words and of four for records. Inserts of one key race for the
// last slots. Splits, two in a row, rewrites and merges run against each verb, scans and snapshots.
#include "explore/parts.hpp"
#include "explore/scenarios.hpp"

namespace cubby_test {
namespace {

constexpr table_kind seph_tables[] = {table_kind::seph_words, table_kind::seph_records};
constexpr std::uint64_t slots_of(table_kind table) { return table == table_kind::seph_words ? 2 : 4; }

// Places, by the first bits of the hash.
constexpr std::uint64_t at_0000 = 0, at_0001 = 0x1000, at_01 = 0x4000, at_10 = 0x8000, at_11 = 0xc000;
constexpr std::uint64_t split_it = 1, rewrite_it = 2; // what `resize` installs

/// A table, and the keys that its scenarios are about.
struct stage {
  std::string name;
  scenario s;
  std::uint64_t moved = 0;  // in a lower half: a split copies it
  std::uint64_t shared = 0; // in a higher half: it stays when that becomes a lower one
  std::uint64_t absent = key_at(at_0000, 91);
  std::uint64_t other = key_at(at_0000, 92);
};

void put(script& to, std::uint64_t place, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) to.push_back({act::insert, key_at(place, first + i), 5});
}
scenario empty_table(table_kind table) {
  scenario s;
  s.table = table;
  s.options.segment_bits = 1;
  return s;
}

/// A leaf of all hashes, with so many slots of its lower half and of one higher half in use.
stage one_leaf(table_kind table, const std::string& name, std::uint64_t lower, std::uint64_t higher) {
  stage out{name, empty_table(table), key_at(at_0000, 1), key_at(at_0000, 11)};
  put(out.s.before, at_0000, 1, 1);
  put(out.s.before, at_01, 2, lower - 1);
  put(out.s.before, at_0000, 11, higher == 0 ? 0 : 1);
  put(out.s.before, at_01, 12, higher == 0 ? 0 : higher - 1);
  if (higher == 0) out.shared = out.moved;
  return out;
}
stage lower_has_one(table_kind t) { return one_leaf(t, "last lower slot", slots_of(t) - 1, 0); }
/// Of four slots the last two are empty. `absent` takes the first of them first, and `other`, which begins in the last part, the second.
stage lower_has_two(table_kind t) {
  stage out = one_leaf(t, "two lower slots", slots_of(t) - 2, 0);
  out.other = key_at(at_11, 92);
  return out;
}
stage higher_has_one(table_kind t) { return one_leaf(t, "last higher slot", slots_of(t), slots_of(t) - 1); }
stage full(table_kind t) { return one_leaf(t, "full", slots_of(t), slots_of(t)); }

/// Two leaves. That of the hashes that begin with 0 has so many lower slots in use. Its higher half of 00 is full of the entries that
/// came from the lower half of the leaf before.
stage two_leaves(table_kind table, const std::string& name, std::uint64_t lower) {
  const std::uint64_t n = slots_of(table);
  stage out{name, empty_table(table), key_at(at_0000, 11), key_at(at_0001, 1)};
  put(out.s.before, at_0001, 1, n);
  put(out.s.before, at_0000, 11, lower);
  put(out.s.before, at_10, 21, n + 1);
  return out;
}
stage child_has_one(table_kind t) { return two_leaves(t, "last slot of a child", slots_of(t) - 1); }
/// An insert splits it, and then what came of it: two splits in a row, and a larger directory.
stage two_in_a_row(table_kind t) { return two_leaves(t, "two in a row", slots_of(t)); }

/// A full leaf, of which half the entries are dead.
stage half_dead(table_kind table) {
  stage out = full(table);
  out.name = "half dead";
  const std::uint64_t gone = slots_of(table) / 2;
  for (std::uint64_t i = 0; i < gone; ++i) {
    out.s.before.push_back({act::erase, key_at(at_01, 1 + slots_of(table) - i - 1)});
    out.s.before.push_back({act::erase, key_at(at_01, 11 + slots_of(table) - i - 1)});
  }
  return out;
}
/// Two leaves that fit in one.
stage two_small(table_kind table) {
  stage out{"two small",      empty_table(table),  key_at(at_0000, 1),
            key_at(at_10, 1), key_at(at_0000, 91), key_at(at_10, 92)};
  out.s.before = {{act::reserve, 0, slots_of(table) * 3}};
  put(out.s.before, at_0000, 1, 1);
  put(out.s.before, at_10, 1, 1);
  return out;
}

/// The reorganisation is installed when the threads begin, as if another thread had got that far and then stood still.
stage installed(stage of, std::uint64_t what) {
  of.name += what == split_it ? ", split under way" : ", rewrite under way";
  of.s.at_last = {{act::resize, 0, what}};
  of.s.under_way = true;
  return of;
}

void add_casts(std::vector<scenario>& all, const stage& on, const std::vector<std::vector<script>>& casts,
               unsigned resizes) {
  for (const auto& cast : casts) {
    scenario s = on.s;
    s.threads = cast;
    s.resizes = resizes;
    add(all, on.name, std::move(s));
  }
}
/// Each verb about a key that moves, one that stays and one that is absent, beside a thread that does something else.
void add_verbs(std::vector<scenario>& all, const stage& on, const script& beside, unsigned resizes) {
  for (const std::uint64_t key : {on.moved, on.shared, on.absent})
    for (std::size_t v = 0; v < verbs_of_one_key; ++v)
      add_casts(all, on, {{{verb_number(v, key, 6), {act::find, key}}, beside}}, resizes);
}

/// What inserts of one key, and of another one, do to each other.
std::vector<std::vector<script>> inserts(const stage& on) {
  const std::uint64_t k = on.absent, l = on.other, m = on.moved;
  return {
      {{{act::insert, k, 6}}, {{act::insert, k, 7}}},
      {{{act::insert, k, 6}, {act::find, k}}, {{act::insert, k, 7}, {act::find, k}}},
      {{{act::insert, k, 6}, {act::erase, k}}, {{act::insert, k, 7}, {act::find, k}}},
      {{{act::insert, k, 6}}, {{act::insert, l, 7}, {act::find, k}}},
      {{{act::insert, k, 6}}, {{act::insert, l, 7}, {act::insert, k, 8}}},
      {{{act::insert, k, 6}}, {{act::insert, k, 7}}, {{act::insert, l, 8}}},
      {{{act::insert, k, 6}, {act::erase, k}}, {{act::insert, k, 7}}, {{act::insert, l, 8}, {act::find, k}}},
      {{{act::erase, m}, {act::insert, m, 6}}, {{act::insert, k, 7}, {act::find, m}}},
      {{{act::erase, m}, {act::insert, m, 6}}, {{act::insert, k, 7}}, {{act::insert, m, 8}}},
  };
}
/// Two threads that meet a key in both places, and a third one that causes the change.
std::vector<std::vector<script>> three(const stage& on, const script& change) {
  const std::uint64_t m = on.moved, h = on.shared, k = on.absent;
  return {
      {{{act::assign, m, 6}, {act::find, m}}, {{act::find, m}, {act::find, m}}, change},
      {{{act::assign, m, 6}}, {{act::extract, m}}, change},
      {{{act::erase, h}, {act::insert, h, 6}}, {{act::insert, h, 7}, {act::find, h}}, change},
      {{{act::insert, k, 6}}, {{act::insert, k, 7}, {act::erase, k}}, change},
      {{{act::update, m, 6}}, {{act::toggle, m, 7}}, change},
      {{{act::erase, m}, {act::collect}}, {{act::find, m}, {act::find, h}}, change},
  };
}
/// The casts of two threads, and a third thread.
std::vector<std::vector<script>> beside(std::vector<std::vector<script>> casts, const script& third) {
  std::erase_if(casts, [](const std::vector<script>& cast) { return cast.size() != 2; });
  for (auto& cast : casts) cast.push_back(third);
  return casts;
}
call lookups(const stage& on) {
  return {act::find_batch, 0, 0, {{act::find, on.moved}, {act::find, on.shared}, {act::find, on.absent}}};
}

} // namespace

std::vector<scenario> seph_inserts() {
  std::vector<scenario> all;
  for (const table_kind table : seph_tables) {
    for (const stage& on : {lower_has_one(table), higher_has_one(table), child_has_one(table)})
      add_casts(all, on, inserts(on), 0);
    for (const stage& on : {full(table), two_in_a_row(table), half_dead(table)}) add_casts(all, on, inserts(on), 1);
    for (const stage& on : {lower_has_one(table), higher_has_one(table), child_has_one(table), full(table)}) {
      const stage late = installed(on, split_it);
      add_casts(all, late, beside(inserts(late), {{act::pass, 0, 1}}), 1);
    }
  }
  const stage two = lower_has_two(table_kind::seph_records);
  add_casts(all, two, inserts(two), 0);
  const stage late = installed(two, split_it);
  add_casts(all, late, beside(inserts(late), {{act::pass, 0, 1}}), 1);
  return all;
}

std::vector<scenario> seph_splits() {
  std::vector<scenario> all;
  for (const table_kind table : seph_tables) {
    for (const stage& on : {full(table), two_in_a_row(table)}) {
      const script change = {{act::insert, on.other, 7}};
      add_verbs(all, on, change, 1);
      add_casts(all, on, three(on, change), 1);
    }
    const stage late = installed(higher_has_one(table), split_it);
    add_verbs(all, late, {{act::pass, 0, 1}}, 1);
    add_casts(all, late, three(late, {{act::pass, 0, 1}}), 1);
  }
  return all;
}

std::vector<scenario> seph_rewrites() {
  std::vector<scenario> all;
  for (const table_kind table : seph_tables) {
    const stage on = half_dead(table);
    const script change = {{act::insert, on.other, 7}};
    add_verbs(all, on, change, 1);
    add_casts(all, on, three(on, change), 1);
    const stage late = installed(higher_has_one(table), rewrite_it);
    add_verbs(all, late, {{act::pass, 0, 1}}, 1);
    add_casts(all, late, three(late, {{act::pass, 0, 1}}), 1);
    add_casts(all, late, beside(inserts(late), {{act::pass, 0, 1}}), 1);
  }
  return all;
}

std::vector<scenario> seph_merges() {
  std::vector<scenario> all;
  for (const table_kind table : seph_tables) {
    const stage on = two_small(table);
    const script change = {{act::shrink}};
    add_verbs(all, on, change, 1);
    add_casts(all, on, three(on, change), 1);
    add_casts(all, on,
              {{{{act::resize, 0, split_it}, {act::pass, 0, 1}}, change},
               {{{act::resize, 0, rewrite_it}, {act::pass, 0, 1}, {act::find, on.moved}}, change},
               {{{act::resize, 0, rewrite_it}, {act::assign, on.moved, 6}}, {{act::find, on.moved}}, change},
               {{{act::reserve, 0, slots_of(table) * 6}}, change},
               {{{act::insert, on.absent, 6}}, {{act::insert, on.other, 7}}, change},
               {change, change}},
              1);
  }
  return all;
}

std::vector<scenario> seph_looks() {
  std::vector<scenario> all;
  for (const table_kind table : seph_tables) {
    const stage stages[] = {full(table), two_in_a_row(table), half_dead(table), two_small(table)};
    for (const stage& on : stages) {
      const script change = on.name == "two small" ? script{{act::shrink}} : script{{act::insert, on.other, 7}};
      const std::vector<script> alone = {{{act::scan}}, {{act::snapshot}}, {lookups(on)}};
      for (const script& look : alone) {
        add_casts(all, on, {{look, change}, {look, {{act::assign, on.moved, 7}, {act::erase, on.shared}}, change}}, 1);
      }
      add_casts(all, on,
                {{{{act::snapshot}}, {{act::insert, on.absent, 6}, {act::erase, on.moved}}},
                 {{{act::snapshot}}, {{act::snapshot}}},
                 {{{act::snapshot}}, {{act::find, on.moved}, {act::update, on.moved, 6}}}},
                0);
      if (table != table_kind::seph_records) continue;
      for (const std::uint64_t key : {on.moved, on.shared})
        add_casts(all, on, {{{{act::hold, key}, {act::look}}, {{act::erase, key}, {act::collect}}, change}}, 1);
    }
  }
  return all;
}

} // namespace cubby_test
