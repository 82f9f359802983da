// SPDX-License-Identifier: Apache-2.0
// What a thread of a test may be told to do: one list for histories, for scripts under the scheduler and for the explorer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cubby_test {

enum class act : std::uint8_t {
  // About one key. The first seven are also `verb`s, under the same numbers.
  find,
  insert,
  assign,
  erase,
  extract,
  insert_or_assign,
  update,
  upsert, ///< insert_or_update
  toggle, ///< compute: erases what it finds, or else inserts
  commit, ///< shadow insert, then commit
  abort,  ///< shadow insert, then abort
  contains,
  add, ///< insert_or_add
  visit,
  find_ref,
  try_emplace,
  try_insert,
  compute,
  erase_if,
  // About several.
  find_batch,
  visit_batch,
  execute,
  execute_stopping, ///< with stop_at_first_failure
  pipeline,         ///< requests in no order, by a pipeline
  // About the table, or about what an earlier one has left.
  reserve,
  shrink, ///< shrink_to_fit, which also frees all that may be freed
  snapshot,
  scan, ///< visit_all
  hold, ///< find_ref, which pins
  look, ///< is the reference still what it was? then unpin
  // About a resize that a script carries out itself, where the table lets it.
  resize,  ///< begins one
  pass,    ///< does as many passes of it, with what has to be waited for before them
  collect, ///< frees what may be freed, and waits for nothing
  modify,  ///< `update` by a function that runs once, where the engine has that; about one key
  newcomer ///< a group of writes by a handle of their own, which comes and goes, of a partitioned table
};
inline constexpr std::size_t scripted_acts = 11; ///< the first ones, which every script player knows
inline constexpr std::size_t keyed_acts = 19;    ///< the first ones: those about one key
inline constexpr std::size_t recorded_acts = 23; ///< the first ones, which recorded histories draw from

} // namespace cubby_test
