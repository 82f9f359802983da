// SPDX-License-Identifier: Apache-2.0
// How a table moves to another address. No other thread uses it, and no handle, guard or reservation of it lives, as they have its
// address. First what waits to be freed is freed: it waits for nobody then. The members go to a new table, which gets a worker if it needs
// one. What is left is made anew, empty. An engine has open(table) -> bool and close(table), its members `settings`, `policy`, `worker`.
#pragma once

#include <cubby/detail/core/contract/options.hpp>
#include <cubby/detail/platform/sync.hpp>
#include <cubby/detail/platform/thread.hpp>

namespace cubby::inline v0::detail {

/// The table of an engine, and not a map that has one.
template <class Table> concept with_worker = requires(Table& t) {
  t.worker;
  t.settings;
};

/// Before a table moves: ends its worker, which may start again. `closing` asks it to stop early.
template <with_worker Table> void end_worker(Table& t) noexcept {
  t.closing.store(1, sync::relaxed); // relaxed, both: only a request; the join orders everything
  t.worker.stop();
  t.closing.store(0, sync::relaxed);
}

/// Makes the table that a move leaves: with the same options but for the space, and another seed. False: no memory for it, or no thread; it
/// stays closed.
template <with_worker Table> bool open_again(Table& t) noexcept {
  contract::forget_capacity(t.settings);
  contract::renew_seed(t.settings, t.policy);
  if (open(t)) return true;
  close(t);
  return false;
}

/// Behind the move of a table that is open: starts the worker, without which callers do its work, and opens what the move leaves.
template <with_worker Table>
bool after_move(Table& to, Table& from, background_worker::work_function work) noexcept {
  if (to.settings.growth == growth_policy::background && to.worker.start(work, &to, to.home->forks))
    (void)to.worker.notify();
  return open_again(from);
}

} // namespace cubby::inline v0::detail
