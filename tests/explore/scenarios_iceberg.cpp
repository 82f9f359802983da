// SPDX-License-Identifier: Apache-2.0
// Scenarios over iceberg tables of one or two front buckets. Slots of the back yard are filled again, buckets split and merge, and
// entries come to the front from the back yard or a chain. Each scenario chooses its keys by the buckets of their hashes.
#include <algorithm>
#include <bit>

#include <cubby/detail/engines/iceberg/chains.hpp>

#include "explore/iceberg_keys.hpp"
#include "explore/scenarios.hpp"

namespace cubby_test {
namespace {

/// Entry a of front 0 and a key b of front 1 whose only back bucket is the same; both fronts are full.
struct reuse {
  scenario s;
  std::uint64_t a, b;
};
reuse back_slot(table_kind table) {
  key_chooser keys(table, 2);
  const auto in_first_back = [](std::uint64_t residue) {
    return [=](const key_facts& f) { return f.residue == residue && f.back[0] == 0 && f.back[1] == 0; };
  };
  reuse out{yard(table, 2), keys.next(in_first_back(0)), keys.next(in_first_back(1))};
  keys.fill(0, front_slots(table), out.s.still);
  keys.fill(1, front_slots(table), out.s.still);
  out.s.before = {{act::insert, out.a, 5}};
  return out;
}

trio of_one_pair(table_kind table) {
  key_chooser keys(table, 1);
  const auto goes = [](std::uint64_t where) { return [=](const key_facts& f) { return f.up == where; }; };
  const std::uint64_t low = keys.next(goes(0)), up = keys.next(goes(1));
  return {low, up, keys.next(goes(1))};
}

/// Keys that make lookups of `tag` search the back yard when they are behind the same front bucket: the filter has the bits of their tags.
template <class Suits, class Tag>
std::vector<std::uint64_t> marks_for(std::uint16_t tag, std::uint64_t first, Suits suits, Tag tag_of) {
  std::vector<std::uint64_t> marks;
  std::uint64_t left = yards::state::filter_of(tag);
  for (std::uint64_t key = first; left != 0; ++key) {
    if (!suits(key) || (yards::state::filter_of(tag_of(key)) & left) == 0) continue;
    left &= ~yards::state::filter_of(tag_of(key));
    marks.push_back(key);
  }
  return marks;
}

/// As `back_slot`, with others behind the front bucket of `a` that have the bits of its tag: the filter keeps them when `a` has left.
scenario marked_back_slot(table_kind table) {
  reuse r = back_slot(table);
  const std::uint16_t tag = facts_of(table, r.a, 2).tag;
  const auto suits = [&](std::uint64_t key) {
    const key_facts f = facts_of(table, key, 2);
    return f.residue == 0 && f.back[0] + f.back[1] == 0 && yards::short_tag(f.tag) != yards::short_tag(tag);
  };
  r.s.before = put(marks_for(tag, 30000, suits, [&](std::uint64_t key) { return facts_of(table, key, 2).tag; }));
  r.s.before.push_back({act::insert, r.a, 5});
  r.s.threads = {{{act::erase, r.a}, {act::insert, r.b, 6}}, {{act::find, r.a}}};
  return r.s;
}

/// Fills both front buckets of a table of two with entries of other tags than these.
void fill_both_fronts(scenario& s, const std::vector<std::uint16_t>& but) {
  std::uint64_t left[2] = {front_slots(s.table), front_slots(s.table)};
  for (std::uint64_t key = 40000; left[0] + left[1] != 0; ++key) {
    const key_facts f = facts_of(s.table, key, 2);
    if (left[f.residue] == 0 || std::find(but.begin(), but.end(), f.tag) != but.end()) continue;
    s.still.emplace_back(key, 50);
    --left[f.residue];
  }
}

/// A pair x leaves a slot of the back yard, and y fills it. The words of both make up q, which is not there: it has the first word of x
/// and its tag, and the second word of y. Other entries, of the front bucket of q, make lookups of q search the back yard.
scenario torn_pair() {
  constexpr table_kind table = table_kind::iceberg_pairs;
  const auto suits = [](std::uint64_t key, std::uint64_t residue) {
    const key_facts f = facts_of(table, key, 2);
    return f.residue == residue && f.back[0] + f.back[1] == 0;
  };
  const auto tag = [](std::uint64_t key) { return facts_of(table, key, 2).tag; };
  std::uint64_t q = 1, x = 0, y = 0;
  for (; x == 0 || y == 0; ++q) {
    x = y = 0;
    for (std::uint64_t other = 1; suits(q, 0) && other < 256; ++other) {
      const std::uint64_t same_first = (q & 0xff) | other << 8, same_second = (q & ~std::uint64_t{0xff}) | other;
      if (same_first != q && suits(same_first, 1) && yards::short_tag(tag(same_first)) == yards::short_tag(tag(q)))
        x = same_first;
      if (same_second != q && suits(same_second, 1)) y = same_second;
    }
    if (x != 0 && y != 0) break;
  }
  std::vector<std::uint64_t> before =
      marks_for(tag(q), 30000, [&](std::uint64_t key) { return suits(key, 0) && tag(key) != tag(q); }, tag);
  before.push_back(x);
  scenario s = yard(table, 2);
  fill_both_fronts(s, {tag(q), tag(x), tag(y)});
  s.before = put(before);
  s.threads = {{{act::erase, x}, {act::insert, y, 6}}, {{act::find, q}}};
  return s;
}

/// A slot of the front bucket is filled again.
void add_front_slots(std::vector<scenario>& all, table_kind table) {
  key_chooser keys(table, 1);
  const auto any = [](const key_facts&) { return true; };
  const std::uint64_t a = keys.next(any), b = keys.next(any);
  const std::vector<std::vector<script>> casts = {
      {{{act::erase, a}, {act::insert, b, 6}}, {{act::find, a}}},
      {{{act::erase, a}, {act::insert, b, 6}}, {{act::assign, a, 7}}},
      {{{act::erase, a}, {act::insert, b, 6}}, {{act::extract, a}}},
      {{{act::extract, a}, {act::insert, a, 6}}, {{act::find, a}}},
      {{{act::extract, a}, {act::insert, a, 6}}, {{act::assign, a, 7}, {act::find, a}}},
  };
  for (const auto& cast : casts) {
    scenario s = yard(table, 1);
    s.before = put({a});
    s.threads = cast;
    add(all, "front slot", std::move(s));
  }
}

/// An entry x leaves a slot of the back yard, and y, which has the same tag there, fills it. Other entries, of the front bucket of y,
/// make lookups of y search the back yard.
scenario same_back_tag(table_kind table) {
  const auto facts = [=](std::uint64_t key) { return facts_of(table, key, 2); };
  const auto suits = [&](std::uint64_t key, std::uint64_t residue) {
    return facts(key).residue == residue && facts(key).back[0] + facts(key).back[1] == 0;
  };
  std::uint64_t y = 2, x = 2;
  while (!suits(y, 0)) ++y;
  const std::uint16_t tag = facts(y).tag;
  while (!suits(x, 1) || yards::short_tag(facts(x).tag) != yards::short_tag(tag)) ++x;
  const auto may_mark = [&](std::uint64_t key) {
    return suits(key, 0) && yards::short_tag(facts(key).tag) != yards::short_tag(tag);
  };
  std::vector<std::uint64_t> before = marks_for(tag, 2, may_mark, [&](std::uint64_t key) { return facts(key).tag; });
  before.push_back(x);
  scenario s = yard(table, 2);
  fill_both_fronts(s, {tag, facts(x).tag});
  s.before = put(before);
  s.threads = {{{act::erase, x}, {act::insert, y, 6}}, {{act::find, y}}};
  return s;
}

/// The chain of a key in a table of two front buckets.
std::uint64_t chain_of(std::uint64_t key) {
  const std::uint64_t hash = std::rotl(yards::back_hash(scattered_hash()(key), 0), 32);
  return cubby::detail::cpu::multiply(hash, 16).high;
}
/// A key of front 0 whose back bucket is full, and that is alone in its chain, or comes to it when `other`, of front 1, leaves it. That has the
/// marks of the key, so a lookup that has seen the filter reads the chain. Others of front 0 are behind it, with the bits of the tag.
scenario chain_again(table_kind table, bool of_another_front) {
  const auto facts = [=](std::uint64_t key) { return facts_of(table, key, 2); };
  const auto suits = [&](std::uint64_t key, std::uint64_t residue) {
    return facts(key).residue == residue && facts(key).back[0] + facts(key).back[1] == 0;
  };
  const auto marks = [](std::uint64_t key) { return yards::chain_marks(scattered_hash()(key)); };
  std::uint64_t key = 2;
  while (!suits(key, 0)) ++key;
  std::uint64_t other = key + 1;
  while (!suits(other, 1) || chain_of(other) != chain_of(key) || (~marks(other) & marks(key)) != 0) ++other;
  const std::uint16_t tag = facts(key).tag;
  const auto may_mark = [&](std::uint64_t one) {
    return suits(one, 0) && facts(one).tag != tag && chain_of(one) != chain_of(key);
  };
  scenario s = yard(table, 2);
  fill_both_fronts(s, {tag, facts(other).tag});
  for (std::uint64_t one = 60000, left = yards::back_slots; left != 0; ++one) {
    if (!suits(one, 1) || facts(one).tag == facts(other).tag) continue;
    s.still.emplace_back(one, 50);
    --left;
  }
  if (of_another_front) {
    s.before = put(marks_for(tag, other + 1, may_mark, [&](std::uint64_t one) { return facts(one).tag; }));
    s.before.push_back({act::insert, other, 5});
  } else {
    s.before = put({key});
  }
  s.threads = {{{act::erase, of_another_front ? other : key}, {act::insert, key, 6}},
               {{act::find, key}, {act::find, key}}};
  return s;
}

} // namespace

/// An entry of the back yard leaves, and its slot is filled with an entry of another front bucket.
std::vector<scenario> iceberg_reuse() {
  std::vector<scenario> all;
  for (const table_kind table : iceberg_tables) {
    const reuse r = back_slot(table);
    const std::vector<std::vector<script>> casts = {
        {{{act::erase, r.a}, {act::insert, r.b, 6}}, {{act::find, r.a}}},
        {{{act::erase, r.a}}, {{act::insert, r.b, 6}}, {{act::find, r.a}}},
        {{{act::erase, r.a}, {act::insert, r.b, 6}}, {{act::assign, r.a, 7}}},
        {{{act::erase, r.a}, {act::insert, r.b, 6}}, {{act::extract, r.a}}},
        {{{act::erase, r.a}, {act::insert, r.b, 6}}, {{act::update, r.a, 7}}},
        {{{act::erase, r.a}, {act::insert, r.b, 6}}, {{act::find, r.b}, {act::find, r.a}}},
        {{{act::extract, r.a}, {act::insert, r.a, 6}}, {{act::assign, r.a, 7}, {act::find, r.a}}},
        {{{act::insert, r.b, 6}}, {{act::insert, r.b, 7}}, {{act::erase, r.a}}},
    };
    for (const auto& cast : casts) {
      scenario s = r.s;
      s.threads = cast;
      add(all, "back slot", std::move(s));
    }
    add(all, "marked back slot", marked_back_slot(table));
    add_front_slots(all, table);
    add(all, "same back tag", same_back_tag(table));
    add(all, "chain again", chain_again(table, false));
    add(all, "chain of two fronts", chain_again(table, true));
  }
  add(all, "torn pair", torn_pair());
  return all;
}

/// A growth beside the operations on entries that it moves; two threads that grow; two growths, one after the other.
std::vector<scenario> iceberg_growth() {
  std::vector<scenario> all;
  for (const table_kind table : iceberg_tables) {
    const trio k = of_one_pair(table);
    scenario s = yard(table, 1);
    s.before = put({k.low, k.up});
    const auto casts = beside(k.low, k.up, k.more);
    add_beside(all, "split", s, casts, {{act::reserve, 0, for_two(table)}});
    scenario seen = yard(table, 1); // the scan must show both
    seen.still = {{k.low, 5}, {k.up, 5}};
    add_beside(all, "scanned split", seen, {{{{act::scan}}}}, {{act::reserve, 0, for_two(table)}});
    add_beside(all, "looked for, split", s, {{{{act::find, k.up}}}}, {{act::reserve, 0, for_two(table)}});
    add_beside(all, "changed, split", s, {{{{act::assign, k.up, 6}}}}, {{act::reserve, 0, for_two(table)}});
    add_beside(all, "split twice", s, casts, {{act::reserve, 0, for_four(table)}});
    for (const std::uint64_t second : {for_two(table), for_four(table)}) {
      const script first = {{act::reserve, 0, for_two(table)}, {act::find, k.up}};
      const script grows = {{act::reserve, 0, second}, {act::find, k.up}};
      const script writes = {{act::assign, k.up, 6}};
      const std::vector<std::vector<script>> two = {{first}, {writes, first}};
      add_beside(all, "two that grow", s, two, grows);
    }
  }
  return all;
}

/// A shrink beside the operations on entries that it moves; a shrink and a growth.
std::vector<scenario> iceberg_merges() {
  std::vector<scenario> all;
  for (const table_kind table : iceberg_tables) {
    const trio k = of_one_pair(table);
    scenario s = yard(table, 1);
    s.before = {{act::reserve, 0, for_two(table)}};
    for (const call& c : put({k.low, k.up})) s.before.push_back(c);
    const auto casts = beside(k.low, k.up, k.more);
    add_beside(all, "merge", s, casts, {{act::shrink}});
    scenario seen = s; // the scan must show both
    seen.before.resize(1);
    seen.still = {{k.low, 5}, {k.up, 5}};
    add_beside(all, "scanned merge", seen, {{{{act::scan}}}}, {{act::shrink}});
    add_beside(all, "merge, split", s, casts, {{act::shrink}, {act::reserve, 0, for_two(table)}});
    const std::vector<std::vector<script>> grows = {{{{act::reserve, 0, for_four(table)}, {act::find, k.up}}}};
    add_beside(all, "merge beside split", s, grows, {{act::shrink}, {act::find, k.up}});
    scenario four = s;
    four.before.front().value = for_four(table);
    std::vector<std::vector<script>> no_scan = casts; // a scan begins again after each merge
    no_scan.erase(no_scan.begin() + 1);
    add_beside(all, "merge twice", four, no_scan, {{act::shrink}});
    // The lower bucket is full when the upper one is merged into it: its entry goes behind.
    scenario full = s;
    for (std::uint64_t key = 50000; full.still.size() != front_slots(table) - 1; ++key) {
      const key_facts f = facts_of(table, key, 1);
      if (f.up == 0 && f.tag % 64 != facts_of(table, k.up, 1).tag % 64 &&
          f.tag % 64 != facts_of(table, k.more, 1).tag % 64)
        full.still.emplace_back(key, 50);
    }
    add_beside(all, "merge into a full bucket", full, casts, {{act::shrink}});
  }
  return all;
}

/// Entries that move from behind a front bucket to it; and two inserts of one key, of which one goes behind.
std::vector<scenario> iceberg_fronts() {
  std::vector<scenario> all;
  for (const table_kind table : iceberg_tables) {
    for (const bool in_chain : {false, true}) {
      trio k{};
      const scenario s = left_behind(table, in_chain ? 2 : 1, in_chain, k);
      add_beside(all, in_chain ? "looked for in a chain" : "looked for in the back", s, {{{{act::find, k.up}}}},
                 {{act::reserve, 0, in_chain ? for_four(table) : for_two(table)}});
      add_beside(all, in_chain ? "from a chain" : "from the back", s, beside(k.low, k.up, k.more),
                 {{act::reserve, 0, in_chain ? for_four(table) : for_two(table)}});
    }
    // The last slot of the front is emptied, or taken, between two inserts.
    scenario full = yard(table, 1);
    key_chooser others(table, 1);
    const auto any = [](const key_facts&) { return true; };
    const std::uint64_t a = others.next(any), b = others.next(any), c = others.next(any);
    others.fill(0, front_slots(table) - 1, full.still);
    full.before = put({a});
    const std::vector<std::vector<script>> pairs = {
        {{{act::insert, b, 6}}, {{act::erase, a}, {act::insert, b, 7}}},
        {{{act::insert, b, 6}}, {{act::insert, b, 7}}, {{act::erase, a}}},
        {{{act::insert, b, 6}, {act::find, b}}, {{act::erase, a}, {act::insert, b, 7}, {act::erase, b}}},
        {{{act::insert, b, 6}, {act::erase, b}}, {{act::insert, c, 6}, {act::find, b}}, {{act::erase, a}}},
        {{{act::insert, b, 6}, {act::erase, b}, {act::insert, c, 6}}, {{act::find, b}, {act::find, c}}},
    };
    for (const auto& cast : pairs) {
      scenario one = full;
      one.threads = cast;
      add(all, "behind", std::move(one));
    }
  }
  return all;
}

/// A `modify` beside each verb about the same entry, and beside a split or a merge, at the front and in the back yard.
std::vector<scenario> iceberg_modifies() {
  std::vector<scenario> all;
  for (const table_kind table : iceberg_tables) {
    const trio k = of_one_pair(table);
    for (std::size_t v = 0; v < verbs_of_one_key; ++v) {
      const std::vector<script> cast = {{{act::modify, k.up, 8}, {act::find, k.up}},
                                        {verb_number(v, k.up, 6), {act::find, k.up}}};
      scenario s = yard(table, 1);
      s.before = put({k.low, k.up});
      s.threads = cast;
      add(all, "modify", s);
      add_beside(all, "modify, split", s, {cast}, {{act::reserve, 0, for_two(table)}});
      s.before.insert(s.before.begin(), {act::reserve, 0, for_two(table)});
      add_beside(all, "modify, merge", s, {cast}, {{act::shrink}});
      trio b{};
      scenario back = left_behind(table, 1, false, b);
      const std::vector<script> behind = {{{act::modify, b.up, 8}, {act::find, b.up}},
                                          {verb_number(v, b.up, 6), {act::find, b.up}}};
      back.threads = behind;
      add(all, "modify behind", back);
      add_beside(all, "modify behind, split", back, {behind}, {{act::reserve, 0, for_two(table)}});
    }
  }
  return all;
}

} // namespace cubby_test
