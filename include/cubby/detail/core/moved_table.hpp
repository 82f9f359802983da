// SPDX-License-Identifier: Apache-2.0
// How a table moves to another address: its generations, counts and places go to a new table, and what is left is made anew, empty. No
// other thread uses the table. No handle, guard or reservation of it lives, as they have its address. What waits to be freed waits for
// nobody then, so it is freed first.
#pragma once

#include <utility>

#include <cubby/detail/core/migration.hpp>

namespace cubby::inline v0::detail {

namespace generations {

/// Before a table moves: ends its worker and frees all that waits to be freed. The destructors of values run here.
template <class Table> Table&& at_rest(Table& t) noexcept {
  t.worker.stop();
  (void)t.bag.dispose_all();
  t.retired.free_all();
  return std::move(t);
}

/// Moves all that `from` has to `to`, a table that has been made of it; the last step, as a worker may begin. Without a thread for
/// background growth callers move entries.
template <class Table> void take_over(Table& to, Table& from) noexcept {
  sync::hand_over(to.root, from.root);
  to.entries.take_over(from.entries);
  sync::hand_over(to.maintenance, from.maintenance);
  to.places.take_over(from.places);
  sync::hand_over(to.growths, from.growths);
  sync::hand_over(to.shrinks, from.shrinks);
  sync::hand_over(to.rebuilds, from.rebuilds);
  from.has_no_worker.store(0, sync::relaxed); // relaxed: no other thread is here
  if (to.settings.growth != Table::growth::background || !is_open(to)) return;
  const bool started = to.worker.start(background_work<Table>, &to, to.home->forks);
  to.has_no_worker.store(started ? 0 : 1, sync::relaxed); // relaxed: no other thread is here
  if (next_of(*first(to)) != nullptr) tell_worker(to);
}

} // namespace generations

} // namespace cubby::inline v0::detail
