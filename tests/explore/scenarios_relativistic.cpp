// SPDX-License-Identifier: Apache-2.0
// Scenarios in which a relativistic table resizes. Chains of two or three nodes are zipped and unzipped step by step, by a
// thread of the scenario, by writers on their way or by the table's own thread. Others change the chain or stand in it
// meanwhile. Buckets 0 and 64 of 128 are bucket 0 of 64, the least size there is.
#include "explore/parts.hpp"
#include "explore/scenarios.hpp"

namespace cubby_test {
namespace {

constexpr std::uint64_t for_128_buckets = 100, for_256_buckets = 200;

/// Of bucket 0, and of bucket 64 of 128.
constexpr std::uint64_t a1 = key_at(0, 1), a2 = key_at(0, 2), b1 = key_at(64, 1), b2 = key_at(64, 2);
/// Of the buckets of 256 that come from bucket 0 of 64.
constexpr std::uint64_t c1 = key_at(128, 1), d1 = key_at(192, 1);

script inserted(const std::vector<std::uint64_t>& keys) {
  script all;
  for (const std::uint64_t key : keys) all.push_back({act::insert, key, 5});
  return all;
}
script then(script first, const script& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

constexpr std::uint64_t to_the_end = 99; // passes

/// Resizes by hand: only families that have keys take steps of their own, so schedules are short.
script resized(std::uint64_t buckets) { return {{act::resize, 0, buckets}, {act::pass, 0, to_the_end}}; }

/// Three or four nodes that a resize zips or unzips. `passes` of the first one have been done when the threads begin.
struct shape {
  std::string name;
  script before;
  std::vector<std::uint64_t> sizes; // one after the other
  unsigned passes;

  [[nodiscard]] scenario over(table_kind table) const {
    scenario s = tiny(table, before);
    s.threads = {{}, {}};
    script& rest = s.threads[1];
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      script& where = i == 0 && passes != 0 ? s.before : rest;
      where.push_back({act::resize, 0, sizes[i]});
      if (i == 0 && passes != 0) where.push_back({act::pass, 0, passes});
      rest.push_back({act::pass, 0, to_the_end});
    }
    s.under_way = passes != 0;
    s.resizes = static_cast<unsigned>(sizes.size()) - (passes != 0 ? 1 : 0);
    return s;
  }
};

const std::vector<shape>& shapes() {
  const script three = inserted({a1, b1, a2}), four = inserted({a1, c1, b1, d1});
  static const std::vector<shape> all = {
      {"unzip", three, {128}, 0},
      {"unzip", three, {128}, 1},
      {"unzip in four", four, {256}, 0},
      {"unzip in four", four, {256}, 1},
      {"zip", then(resized(128), three), {64}, 0},
      {"zip", then(resized(128), three), {64}, 1},
      {"zip from four", then(resized(256), four), {64}, 0},
      {"unzip, zip", three, {128, 64}, 0},
      {"zip, unzip", then(resized(128), three), {64, 128}, 0},
  };
  return all;
}

/// The 65th entry makes 64 buckets grow: writers do a family each on their way, or all of a pass.
scenario about_to_grow(table_kind table) {
  scenario s = tiny(table, inserted({a1, b1}));
  for (std::uint64_t n = 1; n < 63; ++n) s.still.emplace_back(key_at(n, 9), 50 + n);
  s.resizes = 1;
  return s;
}

call lookups(act how) {
  call c{how, 0, 0, {}};
  for (const std::uint64_t key : {a1, b1, a2}) c.inner.push_back({act::find, key});
  return c;
}

/// The table's own thread has a growth to do, or a shrinking that the last erase has begun, and has not started.
scenario left_to_the_thread(table_kind table, bool grows) {
  scenario s = grows ? about_to_grow(table) : tiny(table, {{act::reserve, 0, for_256_buckets}});
  const script last =
      grows ? inserted({a2}) : script{{act::insert, a1, 5}, {act::insert, b1, 5}, {act::insert, 7, 5}, {act::erase, 7}};
  s.before = then(s.before, last);
  s.options.growth = cubby::growth_policy::background;
  s.options.shrink = cubby::shrink_policy::automatic;
  s.options.chunk_bins = 64;
  s.under_way = true;
  s.resizes = 0;
  return s;
}

/// Two threads beside the one that resizes.
const std::vector<std::vector<script>>& pairs() {
  static const std::vector<std::vector<script>> all = {
      {{{act::erase, a1}}, {{act::find, b1}, {act::find, a2}}},
      {{{act::erase, b1}}, {{act::erase, a1}}},
      {{{act::erase, a2}, {act::insert, a2, 6}}, {{act::find, a1}, {act::find, b1}}},
      {{{act::extract, b1}, {act::insert, b1, 6}}, {{act::assign, a1, 7}, {act::find, b1}}},
      {{{act::assign, b1, 6}}, {{act::find, b1}, {act::find, b1}}},
      {{{act::insert, b2, 6}}, {{act::insert, b2, 7}}},
      {{{act::update, a1, 6}}, {{act::toggle, a1, 7}}},
      {{{act::commit, b2, 6}}, {{act::insert, b2, 7}, {act::find, b2}}},
      {{{act::find, a1}}, {{act::reserve, 0, for_256_buckets}}},
      {{{act::erase, b1}, {act::find, a1}}, {{act::shrink}}},
      {{{act::erase, b1}, {act::collect}, {act::find, a1}}, {{act::find, a1}}},
      {{{act::assign, b1, 6}, {act::collect}, {act::find, a1}}, {{act::find, b1}}},
      {{{act::extract, a2}, {act::collect}}, {{act::find, b1}, {act::find, a1}}},
  };
  return all;
}

} // namespace

/// Each verb about the last node of a chain, one in the middle, and a key that is not there, at each step of a resize.
std::vector<scenario> relativistic_resizes() {
  std::vector<scenario> all;
  for (const table_kind table : relativistic_tables) {
    for (const shape& one : shapes()) {
      for (const std::uint64_t key : {a1, b1, b2}) {
        for (std::size_t v = 0; v < verbs_of_one_key; ++v) {
          scenario s = one.over(table);
          s.threads[0] = {verb_number(v, key, 6), {act::find, key}};
          add(all, one.name, std::move(s));
        }
      }
    }
  }
  return all;
}

/// Two threads beside the one that resizes; two that resize; a resize by writers; one that gets no memory.
std::vector<scenario> relativistic_casts() {
  std::vector<scenario> all;
  for (const table_kind table : relativistic_tables) {
    for (const shape& one : shapes()) {
      for (const auto& cast : pairs()) {
        scenario s = one.over(table);
        s.threads = {cast[0], cast[1], s.threads[1]};
        add(all, one.name, std::move(s));
      }
    }
    for (std::size_t v = 0; v < verbs_of_one_key; ++v) {
      for (const std::size_t families : {1u, 64u}) {
        scenario s = about_to_grow(table);
        s.options.move_bins = families;
        s.threads = {{verb_number(v, b1, 6), {act::find, b1}}, {{act::insert, a2, 7}, {act::assign, a2, 8}}};
        add(all, families == 1 ? "written" : "written at once", std::move(s));
      }
      scenario s = tiny(table, inserted({a1, b1}));
      s.options.chunk_bins = 64;
      s.threads = {{verb_number(v, b1, 6), {act::find, b1}}, {{act::reserve, 0, for_128_buckets}, {act::find, a1}}};
      s.indexes = 0;
      s.resizes = 0;
      add(all, "unzip, no memory", std::move(s));
    }
  }
  return all;
}

/// Lookups in batches, scans, and references that stay, while the table resizes; snapshots, which take every lock, beside
/// resizes by the API.
std::vector<scenario> relativistic_looks() {
  std::vector<scenario> all;
  for (const table_kind table : relativistic_tables) {
    for (const shape& one : shapes()) {
      std::vector<script> looks = {{lookups(act::find_batch)}, {lookups(act::visit_batch)}, {{act::scan}}};
      if (table == table_kind::relativistic_records) { // a reader that stands in the chain for as long as it likes
        looks.push_back({{act::hold, a1}, {act::find, b1}, {act::look}});
        looks.push_back({{act::hold, b1}, {act::find, a1}, {act::look}});
      }
      for (const script& look : looks) {
        scenario s = one.over(table);
        s.threads[0] = look;
        add(all, one.name, s);
        s.threads.push_back({{act::assign, b1, 7}, {act::erase, a1}, {act::insert, b2, 7}});
        add(all, one.name, std::move(s));
      }
    }
    for (const bool grows : {true, false}) {
      scenario s = tiny(table, then(grows ? script{} : resized(128), inserted({a1, b1, a2})));
      s.options.chunk_bins = 64;
      s.resizes = 1;
      s.threads = {{{act::snapshot}}, {grows ? call{act::reserve, 0, for_128_buckets} : call{act::shrink}}};
      add(all, "snapshot", s);
      s.threads.push_back({{act::erase, a1}, {act::insert, b2, 7}});
      add(all, "snapshot", std::move(s));
    }
  }
  return all;
}

/// A `modify` beside each verb about the same entry, its neighbour, and itself, at rest and beside each resize.
std::vector<scenario> relativistic_modifies() {
  std::vector<scenario> all;
  for (const table_kind table : relativistic_tables) {
    for (std::size_t v = 0; v < verbs_of_one_key; ++v) {
      const std::vector<script> cast = {{{act::modify, b1, 8}, {act::find, b1}},
                                        {verb_number(v, b1, 6), {act::find, b1}}};
      scenario at_rest = tiny(table, inserted({a1, b1, a2}));
      at_rest.threads = cast;
      add(all, "modify", at_rest);
      at_rest.threads.push_back({{act::modify, b1, 9}, {act::erase, a1}});
      add(all, "modify", std::move(at_rest));
      for (const shape& one : shapes()) {
        scenario s = one.over(table);
        s.threads = {cast[0], cast[1], s.threads[1]};
        add(all, "modify, " + one.name, std::move(s));
      }
    }
  }
  return all;
}

std::vector<scenario> relativistic_background() {
  std::vector<scenario> all;
  for (const table_kind table : relativistic_tables) {
    for (const bool grows : {true, false}) {
      const std::string name = grows ? "thread, unzip" : "thread, zip";
      for (std::size_t v = 0; v < verbs_of_one_key; ++v) {
        scenario s = left_to_the_thread(table, grows);
        s.threads = {{verb_number(v, b1, 6), {act::find, b1}}};
        add(all, name, s);
        s.threads.push_back({{act::find, a1}, {act::erase, b1}});
        add(all, name, std::move(s));
      }
      for (const script& other : {script{{act::shrink}}, script{{act::reserve, 0, for_256_buckets}},
                                  script{{act::scan}}, script{{act::reserve, 0, for_256_buckets}, {act::shrink}}}) {
        scenario s = left_to_the_thread(table, grows);
        s.threads = {other, {{act::assign, b1, 6}, {act::find, b1}}};
        add(all, name, s);
        s.ends = true;
        add(all, name, std::move(s));
      }
    }
  }
  return all;
}

} // namespace cubby_test
