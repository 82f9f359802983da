// SPDX-License-Identifier: Apache-2.0
// Tables of one flat array in which no slot is used twice: when an array is crowded, what it keeps free for entries that
// move to it, how the next one is hung behind it, and how the root steps past one that has wholly moved. What a slot is
// and how its entry moves is the room's. An array has `lines`, slot_count(), units(), parts(), `next`, `arriving`, `base`,
// `cursor`, `done`, and what retired_arrays asks for. For its table, a room has lines_for(table, entries),
// make_successor(table, array, lines), null without memory, and move_units(table, array, units).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <cubby/core/counter.hpp>
#include <cubby/core/retired.hpp>
#include <cubby/platform/thread.hpp>

namespace cubby::inline v0::arrays {

/// 2^46 bytes: more than there is memory for, and products of sizes below it do not wrap.
inline constexpr std::uint64_t most_lines = std::uint64_t{1} << 40;
/// Lines that move together: the least that one write does for a migration. Fewer let more writes through while it lasts, but it
/// lasts longer, and less is done in all (docs/performance.md, constants).
inline constexpr std::size_t unit_lines = 8;

/// What a table consists of, beside what its room adds.
template <class Array, class Policy, class Settings, class Threads> struct table_state {
  using array_type = Array;
  using growth = decltype(Settings::growth);
  using shrink = decltype(Settings::shrink);
  table_state(const Settings& chosen, Policy slots) : policy(std::move(slots)), settings(chosen), retired(home) {}

  alignas(cpu::cache_line) sync::word<array_type*, Threads> root; // oldest array that has not wholly moved
  sync::word<std::uint32_t, Threads> keeps_arrays;                // 1: some wait to be freed
  const domain_ref home = domain_of_table<Threads>();             // whose seats keep alive what the table shows
  Policy policy;
  Settings settings;
  std::uint64_t floor_lines = 1; // shrinking stops here: what `settings.capacity` asked for

  alignas(cpu::cache_line) small_lock<Threads> grow_lock; // creation of successors
  small_lock<Threads> shape_lock;                         // one reserve or shrink_to_fit at a time
  retired_arrays<array_type, Threads> retired;            // arrays that wait to be freed
  sync::word<std::uint64_t, Threads> ticks;               // rations looks at the size
  sync::word<std::uint64_t, Threads> looks;               // rations looks at all seats
  sync::word<std::uint64_t, Threads> growths;
  sync::word<std::uint64_t, Threads> shrinks;
  sync::word<std::uint64_t, Threads> rebuilds;

  striped_counter<Threads> claims;             // slots that inserts have taken since the table began
  striped_counter<Threads> erases;             // entries that have been erased
  sync::word<std::uint32_t, Threads> unmanned; // 1: the background thread has no seat, so writes move for it
  background_worker worker;                    // idle unless growth is `background`
};

template <class Table> typename Table::array_type* first_array(const Table& t) noexcept {
  // [array-root] acquire: pairs with [step-root]
  return t.root.load(sync::acquire);
}
template <class Array> Array* next_array(const Array& a) noexcept {
  // [array-next] acquire: pairs with [publish-array]
  return a.next.load(sync::acquire);
}

template <class Table> std::uint64_t live_entries(const Table& t) noexcept {
  // Erases first: an entry whose erase is counted has its insert counted when nobody writes, and mostly otherwise.
  const std::int64_t gone = t.erases.total();
  const std::int64_t came = t.claims.total();
  return came < gone ? 0 : static_cast<std::uint64_t>(came - gone);
}

/// Slots of `a` that are in use or spoken for by what still has to move here.
template <class Table>
std::uint64_t used_slots(const Table& t, const typename Table::array_type& a) noexcept {
  const std::int64_t used = t.claims.total() - a.base;
  return used < 0 ? 0 : static_cast<std::uint64_t>(used);
}
/// Those that the dead take.
template <class Table>
std::uint64_t dead_slots(const Table& t, const typename Table::array_type& a) noexcept {
  const std::uint64_t live = live_entries(t);
  const std::uint64_t used = used_slots(t, a);
  return used > live ? used - live : 0;
}

/// Live and dead together past this mark: time for the next array.
template <class Table> bool is_crowded(const Table& t, const typename Table::array_type& a) noexcept {
  return used_slots(t, a) > a.slot_count() - a.slot_count() / 5;
}
/// Users stay out of an array to which entries still move before what has to move there could miss a slot.
template <class Table> bool is_reserved_for_moves(const Table& t, const typename Table::array_type& a) noexcept {
  // relaxed: a stale 1 sends an insert one array further than it need be
  if (a.arriving.load(sync::relaxed) == 0) return false;
  const std::uint64_t margin = a.slot_count() / 8 < 16 ? 16 : a.slot_count() / 8;
  return used_slots(t, a) + margin >= a.slot_count();
}
/// What an insert takes in `a` has to move to every array behind it, so none of them may be short of room either.
template <class Table> bool has_room_behind(const Table& t, const typename Table::array_type& a) noexcept {
  for (const auto* at = &a; at != nullptr; at = next_array(*at))
    if (is_reserved_for_moves(t, *at)) return false;
  return true;
}
/// A `fixed` table leaves some slots free: without any, each search for an absent key would look at all of them.
template <class Table> bool is_bound_reached(const Table& t, const typename Table::array_type& a) noexcept {
  return t.settings.growth == Table::growth::fixed && live_entries(t) >= a.slot_count() - a.slot_count() / 16;
}

/// Small tables grow in larger steps: what they move soon moves again.
template <class Settings> std::uint64_t growth_factor(std::uint64_t lines, const Settings& chosen) noexcept {
  if (chosen.growth_factor >= 2) return chosen.growth_factor < 64 ? chosen.growth_factor : 64;
  return lines < 1024 ? 8 : lines < (std::uint64_t{1} << 16) ? 4 : 2;
}
/// Lines of the array after `a`, in a table that may grow: more when the live ones crowd it, as many when the dead do.
template <class Table>
std::uint64_t lines_by_load(const Table& t, const typename Table::array_type& a) noexcept {
  if (live_entries(t) < a.slot_count() / 5 * 2) return a.lines;
  return a.lines * growth_factor(a.lines, t.settings);
}

/// Frees all retired arrays whose time has come.
template <class Table> void release_arrays(Table& t) noexcept {
  lock_scope hold(t.retired.lock);
  t.retired.release(~std::size_t{0});
}
/// A slice of them, so that no write works for long; none while somebody else has the lock.
template <class Table> void release_in_passing(Table& t) noexcept {
  if (!t.retired.lock.try_lock()) return;
  t.retired.release(release_slice);
  if (t.retired.empty()) t.keeps_arrays.store(0, sync::relaxed); // relaxed: a hint, set and cleared under this lock
  t.retired.lock.unlock();
}
/// Whoever moved the last entry could not free the array, which its own pin kept; another pin may keep it for long.
template <class Table> CUBBY_NEVER_INLINE void release_now_and_then(Table& t) noexcept {
  // A look at all seats is a system call: one call in 64 makes it.
  // relaxed: rations, nothing else
  if (t.looks.fetch_add(1, sync::relaxed) % 64 == 0) release_in_passing(t);
}

template <class Array> bool is_complete(const Array& a) noexcept {
  // [all-moved] acquire: pairs with [count-moved]
  return next_array(a) != nullptr && a.done.load(sync::acquire) == a.parts();
}

/// Lets the root step over every array that is complete, and retires those.
template <class Table> void advance_root(Table& t) noexcept {
  for (;;) {
    auto* const old = first_array(t);
    if (!is_complete(*old)) return;
    auto* expected = old;
    // [step-root] release: pairs with [array-root]
    // relaxed: somebody else stepped; the loop looks again
    if (!t.root.compare_exchange(expected, next_array(*old), sync::release, sync::relaxed)) continue;
    auto& now_first = *next_array(*old);
    now_first.arriving.store(0, sync::relaxed); // relaxed: see is_reserved_for_moves
    // The mover may have gone to sleep over the last units of the old array, which somebody else held.
    if (t.settings.growth == Table::growth::background && next_array(now_first) != nullptr) t.worker.notify();
    lock_scope hold(t.retired.lock);
    t.retired.add(*old);
    t.keeps_arrays.store(1, sync::relaxed); // relaxed: a hint to writes
  }
}

/// Parts of `a` that the caller has moved, and counts once.
template <class Table>
void count_moved(Table& t, typename Table::array_type& a, std::uint64_t parts) noexcept {
  if (parts == 0) return;
  // [count-moved] acq_rel: pairs with [all-moved]; whoever completes has seen every mover's work
  (void)a.done.fetch_add(parts, sync::acq_rel);
  advance_root(t);
}

/// Creates the successor of `a` with so many lines, unless it has one; null: no memory.
template <class Table>
typename Table::array_type* make_next(Table& t, typename Table::array_type& a, std::uint64_t lines) noexcept {
  lock_scope hold(t.grow_lock);
  if (auto* const there = next_array(a)) return there;
  // Others may have inserted since the caller took the measure for a smaller one.
  if (const std::uint64_t needed = lines_for(t, live_entries(t)); lines < a.lines && lines < needed) lines = needed;
  auto* const made = make_successor(t, a, lines);
  if (made == nullptr) return nullptr;
  made->base = t.erases.total();          // all claims so far, less those that are still live
  made->arriving.store(1, sync::relaxed); // relaxed: [publish-array] publishes it
  auto& kind = lines > a.lines ? t.growths : lines < a.lines ? t.shrinks : t.rebuilds;
  (void)kind.fetch_add(1, sync::relaxed); // relaxed: a statistic
  // [publish-array] release: pairs with [array-next]
  a.next.store(made, sync::release);
  // relaxed: see background_work; in the child of a fork there is no worker
  if (t.settings.growth == Table::growth::background && !t.worker.notify()) t.unmanned.store(1, sync::relaxed);
  return made;
}

/// Frees every array, the oldest first, each after a last look. Nobody else may use the table any more.
template <class Table, class F> void free_arrays(Table& t, F last_look) {
  t.worker.stop();
  auto* a = t.root.load(sync::relaxed); // relaxed: nobody else is here
  while (a != nullptr) {
    last_look(*a);
    auto* const next = a->next.load(sync::relaxed); // relaxed: as above
    free_array(a);
    a = next;
  }
  t.retired.free_all();
}

} // namespace cubby::inline v0::arrays
