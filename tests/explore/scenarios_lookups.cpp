// SPDX-License-Identifier: Apache-2.0
// Scenarios with batches of lookups: against every verb that writes, against slots that another key takes, against each
// other, and while entries move.
#include "explore/parts.hpp"
#include "explore/scenarios.hpp"

namespace cubby_test {
namespace {

call lookups(act how, const std::vector<std::uint64_t>& keys) {
  call c{how, 0, 0, {}};
  for (const std::uint64_t key : keys) c.inner.push_back({act::find, key});
  return c;
}

/// The verbs that write: all but the first, find.
constexpr std::size_t first_writer = 1;

/// As many entries of the first bin as its own line holds: what is inserted after them is chained.
std::vector<entry> full_line() { return {{key_at(0, 9), 49}, {key_at(0, 10), 50}, {key_at(0, 11), 51}}; }

void add_writers(std::vector<scenario>& all, table_kind table, act how, const std::vector<entry>& still) {
  for (std::size_t a = first_writer; a < verbs_of_one_key; ++a) {
    for (const bool present : {false, true}) {
      scenario s = tiny(table, present ? script{{act::insert, k1, 5}} : script{});
      s.still = still;
      s.threads = {{lookups(how, {k1, k2, k1})}, {verb_number(a, k1, 6), {act::insert, k2, 7}}};
      add(all, "lookups", std::move(s));
    }
  }
}

} // namespace

std::vector<scenario> batch_lookups() {
  std::vector<scenario> all;
  for (const table_kind table : every_table) {
    add_writers(all, table, act::find_batch, {});
    add_writers(all, table, act::visit_batch, {});
  }
  const std::vector<script> reuses = {
      {{act::erase, k1}, {act::insert, k2, 6}, {act::find, k2}},
      {{act::extract, k1}, {act::insert, k2, 5}, {act::insert, k1, 6}},
      {{act::toggle, k1, 6}, {act::toggle, k2, 6}, {act::toggle, k1, 7}},
      {{act::erase, k1}, {act::commit, k2, 6}, {act::assign, k2, 7}},
      {{act::erase, k1}, {act::abort, k2, 6}, {act::insert, k1, 7}},
  };
  for (const table_kind table : shared_tables) {
    add_writers(all, table, act::find_batch, full_line());
    for (const script& reuse : reuses) {
      for (const act how : {act::find_batch, act::visit_batch}) {
        scenario s = tiny(table, {{act::insert, k1, 5}});
        s.threads = {{lookups(how, {k1, k2}), lookups(how, {k2, k1})}, reuse};
        add(all, "lookups, reuse", s);
        s.threads.push_back({lookups(how, {k1}), {act::find, k2}});
        add(all, "lookups, reuse", std::move(s));
      }
    }
    // More than are in flight together: the bins of the last ones are asked for while the first ones are answered.
    std::vector<std::uint64_t> many(40, key_at(0, 9));
    many.front() = many[33] = k1;
    many[1] = many.back() = k2;
    scenario s = tiny(table, {{act::insert, k1, 5}});
    s.still = full_line();
    s.threads = {{lookups(act::find_batch, many)}, reuses.front()};
    add(all, "lookups, many", std::move(s));
  }
  return all;
}

std::vector<scenario> batch_lookups_meet_moves() {
  using cubby::growth_policy;
  std::vector<scenario> all;
  const std::vector<std::uint64_t> keys = {k1, k3, key_at(0x8000, 10)};
  for (const table_kind table : our_tables) {
    for (std::size_t a = first_writer; a < verbs_of_one_key; ++a) {
      scenario s = tiny(table, {{act::insert, k1, 5}, {act::insert, k2, 5}});
      s.still = without_links();
      s.still.emplace_back(key_at(0, 9), 49);
      s.threads = {{lookups(act::find_batch, keys)}, {verb_number(a, k1, 6)}, {{act::insert, k3, 7}}};
      s.resizes = 1;
      add(all, "lookups, growth", std::move(s));
    }
    for (const auto policy : {growth_policy::incremental, growth_policy::cooperative, growth_policy::background}) {
      for (const act how : {act::find_batch, act::visit_batch}) {
        scenario s = tiny(table, {{act::insert, k1, 5}, {act::insert, k2, 5}});
        s.options.growth = policy;
        s.still = without_links();
        s.still.emplace_back(key_at(0, 9), 49);
        s.threads = {{lookups(how, keys)}, {{act::insert, k3, 7}, {act::erase, k1}, {act::insert, k1, 8}}};
        s.resizes = 1;
        const std::string name = "lookups, " + std::to_string(static_cast<int>(policy));
        add(all, name + ", growth", s);
        s.still = full_bin(7, 7); // through three indexes
        s.before = {{act::insert, k1, 5}};
        s.threads[0] = {lookups(how, {k1, k3})};
        s.resizes = 2;
        add(all, name + ", chain", std::move(s));
      }
    }
    for (const act how : {act::find_batch, act::visit_batch}) { // the indexes that it may be in are freed behind it
      scenario s = tiny(table, {{act::insert, k1, 5}});
      s.threads = {{lookups(how, {k1, k2})}, {{act::reserve, 0, 20}, {act::insert, k2, 6}, {act::shrink}}};
      s.resizes = 2;
      add(all, "lookups, there and back", std::move(s));
    }
  }
  return all;
}

} // namespace cubby_test
