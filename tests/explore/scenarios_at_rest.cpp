// SPDX-License-Identifier: Apache-2.0
// Scenarios in which no entry moves: verbs against verbs, slots that are given back and taken again, batches, records
// that retire.
#include "explore/parts.hpp"
#include "explore/scenarios.hpp"

namespace cubby_test {

std::vector<scenario> pairs_of_verbs() {
  std::vector<scenario> all;
  for (const table_kind table : every_table) {
    for (std::size_t a = 0; a < verbs_of_one_key; ++a) {
      for (std::size_t b = a; b < verbs_of_one_key; ++b) {
        for (const bool present : {false, true}) {
          scenario s = tiny(table, present ? script{{act::insert, k1, 5}} : script{});
          s.threads = {{verb_number(a, k1, 6), {act::find, k1}}, {verb_number(b, k1, 7), {act::find, k1}}};
          add(all, "pair", std::move(s));
        }
      }
    }
  }
  return all;
}

std::vector<scenario> pairs_on_two_keys() {
  std::vector<scenario> all;
  for (const table_kind table : shared_tables) {
    for (std::size_t a = 0; a < verbs_of_one_key; ++a) {
      for (std::size_t b = 0; b < verbs_of_one_key; ++b) {
        scenario s = tiny(table, {{act::insert, k1, 5}});
        s.threads = {{verb_number(a, k1, 6), {act::find, k2}}, {verb_number(b, k2, 7), {act::find, k1}}};
        add(all, "two keys", std::move(s));
      }
    }
  }
  return all;
}

std::vector<scenario> erase_and_reuse() {
  const std::vector<script> opponents = {
      {{act::erase, k1}, {act::insert, k1, 5}, {act::find, k1}},
      {{act::extract, k1}, {act::insert, k1, 100}, {act::assign, k1, 5}},
      {{act::insert, k1, 7}, {act::erase, k1}, {act::insert, k1, 8}},
      {{act::erase, k1}, {act::insert, k2, 5}, {act::find, k1}},
      {{act::toggle, k1, 5}, {act::toggle, k1, 5}, {act::find, k1}},
      {{act::extract, k1}, {act::commit, k1, 5}, {act::find, k1}},
      {{act::erase, k1}, {act::abort, k1, 5}, {act::insert, k2, 5}},
      {{act::update, k1, 9}, {act::assign, k1, 5}, {act::upsert, k1, 9}},
  };
  std::vector<scenario> all;
  for (const table_kind table : shared_tables) {
    for (std::size_t a = 0; a < verbs_of_one_key; ++a) {
      for (const script& opponent : opponents) {
        scenario s = tiny(table, {{act::insert, k1, 5}});
        s.threads = {{verb_number(a, k1, 6), {act::find, k1}}, opponent};
        add(all, "reuse", std::move(s));
      }
    }
  }
  return all;
}

std::vector<scenario> three_and_four_threads() {
  const std::vector<std::vector<script>> casts = {
      {{{act::insert, k1, 6}}, {{act::insert, k1, 7}}, {{act::erase, k1}, {act::find, k1}}},
      {{{act::assign, k1, 6}}, {{act::erase, k1}, {act::insert, k1, 5}}, {{act::find, k1}, {act::find, k1}}},
      {{{act::update, k1, 6}}, {{act::update, k1, 7}}, {{act::extract, k1}, {act::insert, k1, 5}}},
      {{{act::upsert, k1, 6}}, {{act::toggle, k1, 7}}, {{act::toggle, k1, 8}}},
      {{{act::insert_or_assign, k1, 6}}, {{act::commit, k1, 7}}, {{act::erase, k1}, {act::find, k1}}},
      {{{act::insert, k2, 6}, {act::find, k1}}, {{act::insert, k1, 7}, {act::find, k2}}, {{act::erase, k1}}},
      {{{act::insert, k1, 6}}, {{act::insert, k2, 7}}, {{act::insert, k3, 8}}, {{act::find, k2}, {act::find, k1}}},
      {{{act::erase, k1}}, {{act::insert, k2, 7}}, {{act::insert, k3, 8}}, {{act::extract, k1}}},
      {{{act::insert, k1, 6}}, {{act::insert, k1, 7}}, {{act::insert, k1, 8}}, {{act::erase, k1}}},
      {{{act::assign, k1, 6}}, {{act::abort, k1, 7}}, {{act::extract, k1}}, {{act::insert, k1, 5}}},
  };
  std::vector<scenario> all;
  for (const table_kind table : shared_tables) {
    for (const auto& cast : casts) {
      for (const bool present : {false, true}) {
        scenario s = tiny(table, present ? script{{act::insert, k1, 5}} : script{});
        s.threads = cast;
        add(all, "crowd", std::move(s));
      }
    }
  }
  return all;
}

/// Keys 0 to 3 look like marks and live in a bin of their own; 4 and 5 are what 0 and 1 are stored as.
std::vector<scenario> keys_zero_to_three() {
  std::vector<scenario> all;
  for (const table_kind table : shared_tables) {
    for (std::size_t a = 0; a < verbs_of_one_key; ++a) {
      scenario s = tiny(table, {{act::insert, 1, 5}, {act::insert, 5, 5}});
      s.threads = {{verb_number(a, 1, 6), {act::find, 1}}, {{act::erase, 1}, {act::insert, 1, 5}, {act::find, 5}}};
      add(all, "marks", std::move(s));
      s = tiny(table, {{act::insert, 1, 5}, {act::insert, 0, 5}});
      s.threads = {{verb_number(a, 0, 6), {act::find, 0}}, {{act::erase, 1}, {act::insert, 2, 5}, {act::insert, 3, 5}}};
      add(all, "marks", std::move(s));
    }
  }
  return all;
}

std::vector<scenario> batches() {
  const auto batch = [](std::vector<call> inner) { return call{act::execute, 0, 0, std::move(inner)}; };
  const auto brave = [](std::vector<call> inner) { return call{act::execute_stopping, 0, 0, std::move(inner)}; };
  const std::vector<std::vector<script>> casts = {
      {{batch({{act::insert, k1, 6}, {act::insert, k2, 7}})}, {{act::find, k2}, {act::find, k1}}},
      {{batch({{act::erase, k1}, {act::insert, k2, 7}})}, {{act::find, k2}, {act::insert, k1, 8}, {act::find, k1}}},
      {{batch({{act::insert, k1, 6}, {act::assign, k1, 7}, {act::erase, k1}})}, {{act::find, k1}, {act::find, k1}}},
      {{batch({{act::assign, k1, 6}, {act::find, k2}})}, {batch({{act::insert, k2, 7}, {act::find, k1}})}},
      {{batch({{act::erase, k1}, {act::insert, k1, 6}})}, {batch({{act::assign, k1, 7}, {act::find, k1}})}},
      {{batch({{act::insert_or_assign, k1, 6}, {act::find, k1}})}, {{act::erase, k1}, {act::insert, k1, 5}}},
      {{brave({{act::insert, k1, 6}, {act::insert, k2, 7}})},
       {{act::insert, k1, 8}, {act::erase, k1}, {act::find, k2}}},
      {{brave({{act::find, k1}, {act::insert, k2, 7}})}, {{act::toggle, k1, 8}, {act::find, k2}}},
      {{brave({{act::assign, k1, 6}, {act::erase, k1}})}, {brave({{act::erase, k1}, {act::insert, k1, 7}})}},
  };
  std::vector<scenario> all;
  for (const table_kind table : every_table) {
    for (const auto& cast : casts) {
      for (const bool present : {false, true}) {
        scenario s = tiny(table, present ? script{{act::insert, k1, 5}} : script{});
        s.threads = cast;
        add(all, "batch", std::move(s));
      }
    }
  }
  return all;
}

/// Records and indexes that leave while another thread may look at them. `shrink` also frees what may be freed.
std::vector<scenario> retirement() {
  const std::vector<std::vector<script>> casts = {
      {{{act::find, k1}, {act::find, k1}}, {{act::assign, k1, 6}, {act::shrink}}},
      {{{act::find, k1}}, {{act::erase, k1}, {act::shrink}}, {{act::assign, k1, 7}}},
      {{{act::update, k1, 6}}, {{act::assign, k1, 7}, {act::shrink}}},
      {{{act::extract, k1}}, {{act::assign, k1, 7}, {act::shrink}}},
      {{{act::insert, k1, 6}}, {{act::erase, k1}, {act::insert, k1, 7}, {act::shrink}}},
      {{{act::upsert, k1, 6}}, {{act::erase, k1}, {act::shrink}}, {{act::insert, k1, 7}}},
      {{{act::hold, k1}, {act::look}}, {{act::assign, k1, 6}, {act::shrink}}},
      {{{act::hold, k1}, {act::look}}, {{act::erase, k1}, {act::shrink}}, {{act::insert, k1, 7}, {act::shrink}}},
      {{{act::abort, k1, 6}}, {{act::erase, k1}, {act::insert, k1, 7}}, {{act::shrink}}},
      {{{act::scan}}, {{act::assign, k1, 6}, {act::erase, k2}, {act::shrink}}},
      {{{act::find, k1}}, {{act::assign, k1, 6}, {act::shrink}, {act::assign, k1, 7}, {act::shrink}}},
  };
  std::vector<scenario> all;
  for (const table_kind table : {table_kind::records, table_kind::reference_records, table_kind::dramhit_records,
                                 table_kind::relativistic_records}) {
    for (const auto& cast : casts) {
      scenario s = tiny(table, {{act::insert, k1, 5}, {act::insert, k2, 5}});
      s.threads = cast;
      add(all, "retire", std::move(s));
    }
  }
  for (std::size_t a = 0; a < verbs_of_one_key; ++a) { // the index itself retires and is unmapped
    scenario s = tiny(table_kind::words, {{act::insert, k1, 5}});
    s.threads = {{verb_number(a, k1, 6), {act::find, k1}}, {{act::reserve, 0, 20}, {act::shrink}}};
    s.resizes = 2;
    add(all, "retire", std::move(s));
  }
  return all;
}

std::vector<scenario> holes_over(table_kind plain, table_kind late, table_kind hasty) {
  constexpr std::uint64_t k = 7, other = 8;
  std::vector<scenario> all;
  const auto hole = [&](table_kind table, std::vector<script> threads) {
    scenario s = tiny(table, {{act::insert, k, 5}});
    s.threads = std::move(threads);
    add(all, "hole", std::move(s));
  };
  hole(plain, {{{act::assign, k, 6}, {act::find, k}}, {{act::erase, k}, {act::insert, k, 5}, {act::find, k}}});
  hole(plain, {{{act::extract, k}}, {{act::assign, k, 6}}});
  hole(hasty, {{{act::find, k}}, {{act::erase, k}, {act::insert, other, 50}}});
  hole(late, {{{act::assign, k, 6}, {act::find, k}}, {{act::erase, k}, {act::insert, k, 105}, {act::find, k}}});
  return all;
}

std::vector<scenario> published_holes() {
  return holes_over(table_kind::paper, table_kind::paper_late, table_kind::paper_hasty);
}
std::vector<scenario> closed_holes() { return holes_over(table_kind::words, table_kind::words, table_kind::words); }

} // namespace cubby_test
