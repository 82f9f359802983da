// SPDX-License-Identifier: Apache-2.0
// Which threads move the entries of a generation that has a successor. `incremental`: each write moves a bounded share of the
// units. `cooperative`: the thread that needs the space moves until no unit is left. `background`: the table's own thread
// moves them. An engine may also move a unit early, for an operation that needs it, and counts it with count_done.
//   move_range(table, generation, units) moves the units, as far as it can, and returns a moved_parts.
#pragma once

#include <utility>

#include <cubby/detail/core/generations.hpp>

namespace cubby::inline v0::detail::generations {

/// The units from `first` up to, not including, `last`.
struct unit_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
/// The result of a move: the number of parts that the caller has moved, and whether there was no memory.
struct moved_parts {
  std::uint64_t count = 0;
  bool ended = false;
};

/// The number of units for so many bins, rounded up.
template <generation G> constexpr std::uint64_t units_for(std::uint64_t bins) noexcept {
  return bins / G::unit_bins + (bins % G::unit_bins != 0 ? 1 : 0);
}
/// The units that a thread takes at a time under `cooperative` and `background`.
template <class Table> std::uint64_t chunk_of(const Table& t) noexcept {
  return units_for<typename Table::generation_type>(t.settings.chunk_bins);
}

/// Tells movers that a unit was given back, because they may be past it. Its bins must be free by then.
template <gives_units_back G> void mark_missed(G& of) noexcept {
  // A swap, so that the marks of several movers are one release sequence. [give-back] release: pairs with [sweep-again]
  (void)of.missed.exchange(1, sync::release);
}
/// Whether a unit that was given back for want of memory is waiting.
template <generation G> bool has_missed(const G& of) noexcept {
  // relaxed: this thread set it, or one that does not take the unit again either, so a late value does no harm
  if constexpr (gives_units_back<G>) return of.missed.load(sync::relaxed) != 0;
  else return false;
}

/// For when all units are taken. True: a unit was given back, and this call has made all units free to be taken again.
template <generation G> bool restart(G& of) noexcept {
  if constexpr (gives_units_back<G>) {
    std::uint32_t one = 1;
    // Only the thread that clears the mark restarts. [sweep-again] acquire: pairs with [give-back]
    // relaxed: on failure there is nothing to take again
    if (!of.missed.compare_exchange(one, 0, sync::acquire, sync::relaxed)) return false;
    // A swap, so that two restarts are one release sequence.
    // [restart-sweep] acq_rel: pairs with [take-units]; they find the bins as free as we do
    (void)of.cursor.exchange(0, sync::acq_rel);
    return true;
  }
  return false;
}

/// Takes at most so many units of `of`, which has a successor. There may be none left.
template <class Table>
unit_range take_units(Table& t, typename Table::generation_type& of, std::uint64_t at_most) noexcept {
  const std::uint64_t units = of.units_to(*next_of(of));
  const std::uint64_t count = at_most < units ? at_most : units; // so that the sum of several counts does not wrap
  // relaxed: it only hands out numbers
  if (of.cursor.load(sync::relaxed) >= units && !restart(of)) {
    advance_root(t); // the last movers of two generations can each miss the count of the other
    return {};
  }
  // [take-units] acquire: pairs with [restart-sweep]
  const std::uint64_t begin = of.cursor.fetch_add(count, sync::acquire);
  if (begin >= units) return {};
  return {begin, begin + count < units ? begin + count : units};
}

/// Takes at most so many units of `of` and moves them. False: no unit was left, or there was no memory.
template <class Table>
bool move_units(Table& t, typename Table::generation_type& of, std::uint64_t at_most) noexcept {
  const unit_range taken = take_units(t, of, at_most);
  if (taken.first == taken.last) return false;
  const moved_parts moved = move_range(t, of, taken);
  count_done(t, of, moved.count);
  return !moved.ended;
}

/// Moves until no unit is left to take, or there is no memory. Does not wait for other threads that still move their units.
template <class Table> void move_rest(Table& t) noexcept {
  for (;;) {
    auto* const oldest = first(t);
    if (next_of(*oldest) == nullptr || !move_units(t, *oldest, chunk_of(t))) return;
  }
}

/// Helps every migration until it has ended. Waits for threads that move their last unit. False: there was no memory.
template <class Table> bool finish_moves(Table& t) noexcept {
  for (sync::backoff wait;; wait.pause()) {
    move_rest(t);
    auto* const oldest = first(t);
    if (next_of(*oldest) == nullptr) return true;
    if (has_missed(*oldest)) return false;
  }
}

/// The work of a `background` table's thread when it is woken.
template <class Table> void background_work(void* of) {
  auto& t = *static_cast<Table*>(of);
  thread_record* const mine = registry::local(*t.home);
  // relaxed: a thread that sees it late moves some units itself, or leaves them to the next write
  t.has_no_worker.store(mine == nullptr ? 1 : 0, sync::relaxed);
  if (mine == nullptr) return; // callers move the entries; the next notice tries again
  for (bool more = true; more;) {
    const thread_pin stay(*mine);
    auto* const oldest = first(t);
    more = next_of(*oldest) != nullptr && move_units(t, *oldest, chunk_of(t));
  }
  release_retired(t, release_slice);
}

/// Whether a write may leave the moves to the table's thread.
template <class Table> bool is_left_to_worker(Table& t) noexcept {
  // relaxed: see background_work
  if (t.settings.growth != Table::growth::background || t.has_no_worker.load(sync::relaxed) != 0) return false;
  // The worker stops when there is no memory, so it is woken again. If no unit is given back, it goes on to the end.
  if constexpr (gives_units_back<typename Table::generation_type>) return t.worker.notify();
  else return true;
}

/// Frees a slice of the retired generations, so that no write takes long, and clears the mark if nothing is left to do. Waits for no
/// lock.
template <class Table> void release_in_passing(Table& t) noexcept {
  if (!t.retired.lock.try_lock()) return;
  release_locked(t, release_slice);
  // Under both locks no other thread sets the mark between the check and the store. If a stopped thread holds the lock of growth, the
  // mark stays, and a later write clears it.
  if (t.retired.empty() && t.grow_lock.try_lock()) {
    // relaxed: a hint to writes
    if (next_of(*first(t)) == nullptr) t.maintenance.store(t.lasting_maintenance, sync::relaxed);
    t.grow_lock.unlock();
  }
  t.retired.lock.unlock();
}

/// A write's share of a migration's work.
template <class Table> void move_share(Table& t, typename Table::generation_type& oldest) noexcept {
  if (is_left_to_worker(t)) return;
  if (Table::every_write_cooperates && t.settings.growth == Table::growth::cooperative) {
    move_rest(t);
    return;
  }
  (void)move_units(t, oldest, units_for<typename Table::generation_type>(t.settings.move_bins));
}

template <class Table> CUBBY_NEVER_INLINE void do_maintenance(Table& t) noexcept {
  auto* const oldest = first(t);
  if (next_of(*oldest) != nullptr) move_share(t, *oldest);
  // Reading all thread records takes a system call, so only one call in 64 does it.
  // relaxed: it only limits how often this happens
  if (t.looks.fetch_add(1, sync::relaxed) % 64 == 0) release_in_passing(t);
}
/// The further work of a write.
template <class Table> CUBBY_ALWAYS_INLINE void maintenance(Table& t) noexcept {
  // relaxed: a hint; the next write sees it if this one does not
  if ((t.maintenance.load(sync::relaxed) & write_duty::move_or_free) != 0) [[unlikely]]
    do_maintenance(t);
}

/// Makes `first`, which may be null, the only generation of a new table. False: no memory, or no thread for background growth; the
/// caller must then end the table with free_generations.
template <class Table> bool begin_with(Table& t, typename Table::generation_type* first) noexcept {
  if (t.settings.chunk_bins == 0) t.settings.chunk_bins = 1;
  if (t.settings.move_bins == 0) t.settings.move_bins = 1;
  if (first == nullptr) return false;
  t.least_extent = first->extent();
  t.root.store(first, sync::relaxed); // relaxed: the table is not shared yet
  if (Table::threads::is_shared && !t.home) return false;
  if (t.settings.growth == Table::growth::fixed && !t.places.open(t.settings.capacity)) return false;
  return t.settings.growth != Table::growth::background || t.worker.start(background_work<Table>, &t, t.home->forks);
}

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

} // namespace cubby::inline v0::detail::generations
