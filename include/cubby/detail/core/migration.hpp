// SPDX-License-Identifier: Apache-2.0
// Who moves the entries of a generation that has a successor: writes take a bounded share of the units each (`incremental`), the
// thread that needs the space moves until none is left (`cooperative`), or the table's own thread does (`background`). An engine
// may move a unit out of turn, for an operation that needs it, and then counts it with count_done.
//   move_range(table, generation, units) moves what it can of the units, and returns a moved_parts.
#pragma once

#include <cubby/detail/core/generations.hpp>

namespace cubby::inline v0::detail::generations {

/// Units from `first` to before `last`.
struct unit_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
/// What became of a range of units: how many parts the caller has moved, and whether memory ended.
struct moved_parts {
  std::uint64_t count = 0;
  bool ended = false;
};

/// So many bins as units: one begun counts.
template <generation G> constexpr std::uint64_t units_for(std::uint64_t bins) noexcept {
  return bins / G::unit_bins + (bins % G::unit_bins != 0 ? 1 : 0);
}
/// Units that a thread takes at a time when it moves for no write of its own.
template <class Table> std::uint64_t chunk_of(const Table& t) noexcept {
  return units_for<typename Table::generation_type>(t.settings.chunk_bins);
}

/// Tells those who take units of one that was given back. They may be past it already; its bins must be free by then.
template <gives_units_back G> void mark_missed(G& of) noexcept {
  // A swap, so that the marks of several movers are one release sequence. [give-back] release: pairs with [sweep-again]
  (void)of.missed.exchange(1, sync::release);
}
/// Whether a unit waits that was given back for want of memory.
template <generation G> bool has_missed(const G& of) noexcept {
  // relaxed: set by the caller's own moves, or by another's that will not come back to it either
  if constexpr (gives_units_back<G>) return of.missed.load(sync::relaxed) != 0;
  else return false;
}

/// All units are taken. True: one was given back, and the caller has made them free to be taken once more.
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

/// Takes so many units of `of`, which has a successor, or as many as are left: then perhaps none.
template <class Table>
unit_range take_units(Table& t, typename Table::generation_type& of, std::uint64_t at_most) noexcept {
  const std::uint64_t units = of.units_to(*next_of(of));
  const std::uint64_t count = at_most < units ? at_most : units; // sums of a few counts do not wrap
  // relaxed: shares out numbers only
  if (of.cursor.load(sync::relaxed) >= units && !restart(of)) {
    advance_root(t); // the last movers of two generations can each miss what the other has just counted
    return {};
  }
  // [take-units] acquire: pairs with [restart-sweep]
  const std::uint64_t begin = of.cursor.fetch_add(count, sync::acquire);
  if (begin >= units) return {};
  return {begin, begin + count < units ? begin + count : units};
}

/// Takes up to so many units of `of` and moves them. False when there was none left to take, or memory ended.
template <class Table>
bool move_units(Table& t, typename Table::generation_type& of, std::uint64_t at_most) noexcept {
  const unit_range taken = take_units(t, of, at_most);
  if (taken.first == taken.last) return false;
  const moved_parts moved = move_range(t, of, taken);
  count_done(t, of, moved.count);
  return !moved.ended;
}

/// Moves until nothing is left to take or memory ends, and waits for nobody: others may still be moving their last units.
template <class Table> void move_rest(Table& t) noexcept {
  for (;;) {
    auto* const oldest = first(t);
    if (next_of(*oldest) == nullptr || !move_units(t, *oldest, chunk_of(t))) return;
  }
}

/// Helps every migration to its end; false: memory ended first. Waits for threads that are moving their last unit.
template <class Table> bool finish_moves(Table& t) noexcept {
  for (sync::backoff wait;; wait.pause()) {
    move_rest(t);
    auto* const oldest = first(t);
    if (next_of(*oldest) == nullptr) return true;
    if (has_missed(*oldest)) return false;
  }
}

/// What the thread of a `background` table does when it is woken.
template <class Table> void background_work(void* of) {
  auto& t = *static_cast<Table*>(of);
  thread_record* const mine = registry::local(*t.home);
  // relaxed: a thread that sees it late moves some units too many, or leaves them to the next
  t.has_no_worker.store(mine == nullptr ? 1 : 0, sync::relaxed);
  if (mine == nullptr) return; // callers move for it; the next notice tries again
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
  // It stops where memory ends, so it is told again. Where no unit is given back, it goes on to the end by itself.
  if constexpr (gives_units_back<typename Table::generation_type>) return t.worker.notify();
  else return true;
}

/// Frees a slice of what is retired, so that no write works for long, and clears the mark when nothing is left to do. Waits
/// for no lock.
template <class Table> void release_in_passing(Table& t) noexcept {
  if (!t.retired.lock.try_lock()) return;
  release_locked(t, release_slice);
  // Both locks keep others from setting the mark between our look and our clearing it. A thread that stands still while it creates
  // a successor has the lock of growth: then the mark stays, and a later write clears it.
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
  // A look at all thread records is a system call: one call in 64 makes it.
  // relaxed: rations, nothing else
  if (t.looks.fetch_add(1, sync::relaxed) % 64 == 0) release_in_passing(t);
}
/// What a write does beside its own work.
template <class Table> CUBBY_ALWAYS_INLINE void maintenance(Table& t) noexcept {
  // relaxed: a hint; a missed one is seen by the next write
  if ((t.maintenance.load(sync::relaxed) & write_duty::move_or_free) != 0) [[unlikely]]
    do_maintenance(t);
}

/// Makes `first`, which may be null, the only generation of a new table. False: no memory, or no thread for background growth;
/// then the caller ends the table with free_generations.
template <class Table> bool begin_with(Table& t, typename Table::generation_type* first) noexcept {
  if (t.settings.chunk_bins == 0) t.settings.chunk_bins = 1;
  if (t.settings.move_bins == 0) t.settings.move_bins = 1;
  if (first == nullptr) return false;
  t.floor_extent = first->extent();
  t.root.store(first, sync::relaxed); // relaxed: the table is not shared yet
  if (Table::threads::is_shared && !t.home) return false;
  if (t.settings.growth == Table::growth::fixed && !t.places.open(t.settings.capacity)) return false;
  return t.settings.growth != Table::growth::background || t.worker.start(background_work<Table>, &t, t.home->forks);
}

} // namespace cubby::inline v0::detail::generations
