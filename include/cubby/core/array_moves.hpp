// SPDX-License-Identifier: Apache-2.0
// Who moves the entries of an array that has a successor: units of lines are shared out among writes (`incremental`),
// whoever needs the room (`cooperative`) or a thread of the table (`background`). Then what goes over all arrays of a
// table: walks, figures, and the sizes that a user asks for.
#pragma once

#include <cubby/core/arrays.hpp>

namespace cubby::inline v0::arrays {

/// So many bins as units: one begun counts.
constexpr std::uint64_t units_of(std::size_t bins) noexcept {
  return bins / unit_lines + (bins % unit_lines != 0 ? 1 : 0);
}
/// What whoever moves for no write of its own takes at a time.
template <class Table> std::uint64_t chunk_of(const Table& t) noexcept {
  return t.settings.chunk_bins / unit_lines + 1;
}

/// Units from `first` to before `last`.
struct unit_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};
/// Takes so many units of `a`, or as many as are left: then perhaps none.
template <class Array> unit_range take_units(Array& a, std::uint64_t at_most) noexcept {
  const std::uint64_t units = a.units();
  const std::uint64_t count = at_most < units ? at_most : units; // sums of a few counts do not wrap
  // relaxed: shares out numbers only
  if (a.cursor.load(sync::relaxed) >= units) return {};
  const std::uint64_t first = a.cursor.fetch_add(count, sync::relaxed); // relaxed: as above
  if (first >= units) return {};
  return {first, first + count < units ? first + count : units};
}

/// Moves all that nobody has taken yet, and waits for nobody.
template <class Table> void move_rest(Table& t) noexcept {
  for (;;) {
    auto* const oldest = first_array(t);
    if (next_array(*oldest) == nullptr || !move_units(t, *oldest, chunk_of(t))) return;
  }
}
/// What keeps an insert from going on; `nothing`: it may look at its array again.
enum class lack : std::uint8_t { nothing, room, memory };
/// Where an insert goes on that may not, or cannot, take a slot of an array. Without a `next` one, `of` says what is missing.
/// Both ways to get it are out of line: each word more that an insert keeps costs those that need none of this.
template <class Array> struct way_on {
  Array* next = nullptr;
  lack of = lack::room;
};
/// The array after `a`; if there is none yet, with `lines()` lines, and 0 says that a `fixed` table is full.
template <class Table, class F>
CUBBY_NEVER_INLINE way_on<typename Table::array_type> array_after(Table& t, typename Table::array_type& a,
                                                                  F lines) noexcept {
  if (auto* const next = next_array(a)) return {next};
  const std::uint64_t wanted = lines();
  if (wanted == 0) return {};
  auto* const made = make_next(t, a, wanted);
  if (made != nullptr && t.settings.growth == Table::growth::cooperative) move_rest(t);
  return {made, lack::memory};
}
/// The same for an insert that has met a free slot of `a` and may not take it. A `fixed` table that is being rebuilt is full
/// before its bound, as long as entries arrive (is_reserved_for_moves): so the insert moves what nobody has taken yet, and looks
/// whether there is room then. It does not wait for other movers.
template <class Table, class F>
CUBBY_NEVER_INLINE way_on<typename Table::array_type> array_after_free_slot(Table& t, typename Table::array_type& a,
                                                                            F lines) noexcept {
  auto on = array_after(t, a, lines);
  if (on.next != nullptr || on.of != lack::room) return on;
  move_rest(t);
  if (has_room_behind(t, a)) on.of = lack::nothing;
  return on;
}
/// Moves all of `a` that nobody has taken yet, and waits for the rest; works on while there is anything to move before it.
template <class Table> void move_all(Table& t, const typename Table::array_type& a) noexcept {
  sync::backoff wait;
  while (!is_complete(a)) {
    auto* const oldest = first_array(t);
    if (next_array(*oldest) == nullptr) return;
    if (!move_units(t, *oldest, chunk_of(t))) wait.pause();
  }
  advance_root(t);
}
/// Helps every migration to its end; waits for threads that are moving their last unit.
template <class Table> void finish_moves(Table& t) noexcept {
  for (auto* oldest = first_array(t); next_array(*oldest) != nullptr; oldest = first_array(t)) move_all(t, *oldest);
}

/// What the thread of a `background` table does when it is woken.
template <class Table> void background_work(void* of) {
  auto& t = *static_cast<Table*>(of);
  seat* const mine = registry::local(*t.home);
  // relaxed: whoever sees it late moves some units too many, or leaves them to the next
  t.unmanned.store(mine == nullptr ? 1 : 0, sync::relaxed);
  if (mine == nullptr) return;
  for (;;) {
    const seat_pin stay(*mine);
    auto* const oldest = first_array(t);
    if (next_array(*oldest) == nullptr || !move_units(t, *oldest, chunk_of(t))) break;
  }
  lock_scope hold(t.retired.lock);
  t.retired.release(release_slice);
}

/// A look at what was left behind, if there is anything. relaxed: a hint; a missed one is seen by the next write
template <class Table> void release_if_kept(Table& t) noexcept {
  if (t.keeps_arrays.load(sync::relaxed) != 0) [[unlikely]]
    release_now_and_then(t);
}
/// What a write does beside its own work while entries move.
template <class Table> CUBBY_NEVER_INLINE void move_share(Table& t, typename Table::array_type& oldest) noexcept {
  // relaxed: see background_work
  if (t.settings.growth == Table::growth::background && t.unmanned.load(sync::relaxed) == 0) return;
  if (t.settings.growth == Table::growth::cooperative) {
    move_rest(t);
  } else {
    (void)move_units(t, oldest, units_of(t.settings.move_bins));
  }
  release_if_kept(t);
}
/// What a write does beside its own work.
template <class Table> void chores(Table& t) noexcept {
  auto* const oldest = first_array(t);
  if (next_array(*oldest) != nullptr) [[unlikely]] {
    move_share(t, *oldest);
    return;
  }
  release_if_kept(t);
}

/// `f(array)` from the oldest array on, the way that entries go; past arrays that are empty by then.
template <class Table, class F> void for_each_array(const Table& t, F f) {
  const auto* a = first_array(t);
  while (a != nullptr) {
    f(*a);
    a = next_array(*a);
    while (a != nullptr && is_complete(*a)) a = next_array(*a);
  }
}

/// Makes `first`, which may be null, the only array of a new table; false: no memory, or no thread for background growth.
template <class Table> bool begin_with(Table& t, typename Table::array_type* first) noexcept {
  if (t.settings.move_bins == 0) t.settings.move_bins = 1;
  if (first == nullptr) return false;
  if (t.settings.growth == Table::growth::fixed && !t.places.open(t.settings.capacity)) {
    free_array(first);
    return false;
  }
  t.floor_lines = first->lines;
  t.root.store(first, sync::relaxed); // relaxed: the table is not shared yet
  if (!t.home) return false;
  return t.settings.growth != Table::growth::background || t.worker.start(background_work<Table>, &t, t.home->forks);
}

/// Slots of the oldest array. Needs no pin: arrays are only freed under the lock that it takes.
template <class Table> std::size_t capacity(const Table& t) noexcept {
  lock_scope keep(t.retired.lock);
  return first_array(t)->slot_count();
}
/// Needs no pin, as above.
template <class Figures, class Table> Figures figures_of(const Table& t) noexcept {
  Figures out;
  memory::region_list pages;
  {
    lock_scope keep(t.retired.lock);
    const auto& a = *first_array(t);
    out.capacity = a.slot_count();
    out.bins = a.lines;
    std::size_t chained = 0;
    for (const auto* one = &a; one != nullptr; one = next_array(*one), ++chained) pages.add(one->pages);
    out.migrating = chained > 1;
    out.bytes = pages.bytes() + t.retired.bytes();
    out.retired = t.retired.count();
  }
  out.huge_bytes = pages.huge_bytes(); // reads a file: not under the lock
  out.size = live_entries(t);
  out.growths = t.growths.load(sync::relaxed);   // relaxed: a statistic
  out.shrinks = t.shrinks.load(sync::relaxed);   // relaxed: a statistic
  out.rebuilds = t.rebuilds.load(sync::relaxed); // relaxed: a statistic
  return out;
}

/// Moves everything to an array of `lines` if `is_wrong(lines of the last one)`, and on while others add arrays. False: no
/// memory.
template <class Table, class F> bool settle_in(Table& t, std::uint64_t lines, F is_wrong) noexcept {
  auto* a = first_array(t);
  while (auto* const next = next_array(*a)) a = next;
  if (is_wrong(a->lines) && make_next(t, *a, lines) == nullptr) return false;
  finish_moves(t);
  release_arrays(t);
  return true;
}

/// Room for so many entries. False: no memory, or the table is `fixed`.
template <class Table> bool reserve(Table& t, std::size_t entries) noexcept {
  lock_scope alone(t.shape_lock);
  const std::uint64_t wanted = lines_for(t, entries);
  if (wanted > most_lines) return false;
  finish_moves(t);
  if (t.settings.growth == Table::growth::fixed) return entries <= t.settings.capacity;
  const auto is_small = [wanted](std::uint64_t lines) { return lines < wanted; };
  while (is_small(first_array(t)->lines))
    if (!settle_in(t, wanted, is_small)) return false; // others may have grown it further meanwhile
  return true;
}

/// Gives room back that the entries do not need, the dead ones' included. False: no memory.
template <class Table> bool shrink_to_fit(Table& t) noexcept {
  lock_scope alone(t.shape_lock);
  if (t.settings.shrink == Table::shrink::never) return true;
  const std::uint64_t needed = lines_for(t, live_entries(t));
  const std::uint64_t wanted = needed < t.floor_lines ? t.floor_lines : needed;
  // A shrink that would give back less than an eighth is not worth its moves.
  auto* const oldest = first_array(t);
  if (next_array(*oldest) == nullptr && oldest->lines <= wanted + wanted / 8) return true;
  return settle_in(t, wanted, [wanted](std::uint64_t lines) { return lines > wanted; });
}

/// `automatic`: every so many erases, a look at whether the table is nearly empty.
template <class Table> void after_erase(Table& t) noexcept {
  if (t.settings.shrink != Table::shrink::automatic) return;
  constexpr std::uint64_t between_looks = 64;
  // relaxed: rations the looks only
  if (t.ticks.fetch_add(1, sync::relaxed) % between_looks != 0) return;
  auto* const oldest = first_array(t);
  if (next_array(*oldest) != nullptr || oldest->lines / 2 < t.floor_lines) return;
  // An eighth of the slots: after halving, a quarter, and far from the mark for growing.
  if (live_entries(t) < oldest->slot_count() / 8) (void)make_next(t, *oldest, oldest->lines / 2);
}

} // namespace cubby::inline v0::arrays
