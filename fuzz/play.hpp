// SPDX-License-Identifier: Apache-2.0
// Bytes become verbs, and verbs are carried out one after another by table and model.
#pragma once

#include "../tests/engine_headers.hpp"

#include "many.hpp"
#include "one_key.hpp"
#include "values.hpp"

namespace cubby_fuzz {

template <class R> struct verb_entry {
  const char* name;
  void (*call)(R&);
};

template <class R> inline constexpr verb_entry<R> shared_verbs[] = {
    {"try_insert", &try_insert<R>},
    {"insert", &insert_or_throw<R>},
    {"erase", &erase<R>},
    {"contains", &contains<R>},
    {"insert_range", &insert_range<R>},
    {"erase_range", &erase_range<R>},
    {"shadow_insert", &reserve_key<R>},
    {"end_reservation", &end_reservation<R>},
    {"look_up_batch", &look_up_batch<R>},
    {"execute", &execute<R>},
    {"visit_all", &scan<R>},
    {"visit_all that erases", &scan_and_erase<R>},
    {"snapshot", &take_snapshot<R>},
    {"erase_if of all", &erase_chosen<R>},
    {"clear", &clear<R>},
    {"clear_and_release", &clear_and_release<R>},
    {"reserve", &reserve_space<R>},
    {"reserve of too much", &reserve_too_much<R>},
    {"shrink_to_fit", &shrink<R>},
    {"stats", &figures<R>},
    {"prefetch", &ask_ahead<R>},
};
template <class R> inline constexpr verb_entry<R> value_verbs[] = {
    {"find", &find<R>},
    {"visit", &visit_and_change<R>},
    {"assign", &assign<R>},
    {"insert_or_assign", &insert_or_assign<R>},
    {"update", &update<R>},
    {"update that throws", &update_that_throws<R>},
    {"insert_or_update", &insert_or_update<R>},
    {"insert_or_add", &insert_or_add<R>},
    {"compute", &compute<R>},
    {"erase_if", &erase_if_agreed<R>},
    {"extract", &extract<R>},
    {"visit_batch", &visit_batch<R>},
    {"find_ref", &refer<R>},
};

/// The verb with this number, as far as the table has values.
template <class R> verb_entry<R> verb_of(unsigned number) {
  constexpr unsigned shared = std::size(shared_verbs<R>);
  if constexpr (R::has_values) {
    constexpr unsigned all = shared + std::size(value_verbs<R>);
    const unsigned n = number % all;
    return n < shared ? shared_verbs<R>[n] : value_verbs<R>[n - shared];
  } else {
    return shared_verbs<R>[number % shared];
  }
}

/// Every entry is found, no other is met, and what is still reserved leaves no trace.
template <class R> void judge_end(R& r) {
  begin_verb("the end");
  for (const auto& [k, v] : r.model) {
    if constexpr (R::has_values) require(r.table.find(k) == v, "an entry at the end");
    else require(r.table.contains(k), "a key at the end");
  }
  r.held.clear();
  scan(r);
  r.check_size();
}

template <class Kind, class Engine> void play(const choice& chosen, input& in) {
  using table_run = run<Kind, Engine>;
  here() = {Kind::name, "", 0};
  table_run r(chosen, in);
  while (!in.ended()) {
    const unsigned code = in.byte();
    const verb_entry<table_run> verb = verb_of<table_run>(code & 0x7f);
    begin_verb(verb.name);
    r.by_handle = (code & 0x80) != 0;
    verb.call(r);
    r.check_size();
  }
  judge_end(r);
}

/// What an engine stores (tests/engine_list.hpp), and so what it is played with.
namespace storages {
struct records {};
struct tuples {};
} // namespace storages

template <class Engine> void play_kind(storages::records, unsigned kind, const choice& chosen, input& in) {
  if (kind == 0) play<words, Engine>(chosen, in);
  else if (kind == 1) play<texts, Engine>(chosen, in);
  else play<keys_alone, Engine>(chosen, in);
}
/// Tuples take no strings; in their place are keys and values that fill a line.
template <class Engine> void play_kind(storages::tuples, unsigned kind, const choice& chosen, input& in) {
  if (kind == 0) play<words, Engine>(chosen, in);
  else if (kind == 1) play<whole_lines, Engine>(chosen, in);
  else play<keys_alone, Engine>(chosen, in);
}

/// Defined by play_engine.cpp for each engine that answers, and by play_partitioned.cpp.
using play_function = void (*)(unsigned kind, const choice& chosen, input& in);
template <class Engine> void play_engine(unsigned kind, const choice& chosen, input& in);

} // namespace cubby_fuzz
