// SPDX-License-Identifier: Apache-2.0
// A table as a chain of generations. Each generation holds entries until all of them have moved to the next one. This file has the
// state of such a table, the creation of the next generation and the count of moved parts. It also has the step of the root past a
// generation that has moved completely, and its retirement. core/migration.hpp says which threads move the entries.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <cubby/detail/core/places.hpp>
#include <cubby/detail/core/retired.hpp>
#include <cubby/detail/platform/thread.hpp>

namespace cubby::inline v0::detail::generations {

/// One generation of a table. `next` is set once, to a complete successor. Movers take units through `cursor`, and count moved parts
/// in `done`. Parts may be smaller than units, so that a writer can move its own slot. `pages`, `retired_at` and `next_retired` are for
/// core/retired.hpp. If an engine can give units back for want of memory, it has `missed`, which is then set to 1. `unit_bins` is the
/// number of bins in a unit when it moves to a larger generation.
template <class G>
concept generation = requires(G& of, const G& next) {
  of.next;
  of.cursor;
  of.done;
  { of.next_retired } -> std::same_as<G*&>;
  { of.retired_at } -> std::same_as<std::uint64_t&>;
  { of.pages } -> std::same_as<memory::region&>;
  { next.extent() } -> std::same_as<std::uint64_t>;     // its size, in the engine's bins
  { next.slot_count() } -> std::same_as<std::uint64_t>; // for the user
  { of.units_to(next) } -> std::same_as<std::uint64_t>; // the units of the move to `next`
  { of.parts_to(next) } -> std::same_as<std::uint64_t>; // the final value of `done`
  { G::unit_bins } -> std::same_as<const std::uint64_t&>;
};
template <class G> concept gives_units_back = requires(G& of) { of.missed; };

/// The bits of the word that tells writes about further work, so that one load is enough. The other bits are the engine's.
namespace write_duty {
inline constexpr std::uint32_t move_or_free = 1; // a migration runs or a generation waits to be freed
} // namespace write_duty

/// For a table that counts its entries elsewhere.
struct no_counter {
  static void take_over(no_counter&) noexcept {}
};

/// The state of a table; its engine may add more. `Counter` is what each change reads to count. For its table an engine defines
/// becomes_first(table, generation), which is called when the root has reached a generation, and move_range(table, generation, units),
/// which core/migration.hpp describes.
template <generation Generation, class Policy, class Settings, class Threads, class Counter = no_counter>
struct table_state {
  using generation_type = Generation;
  using threads = Threads;
  using growth = decltype(Settings::growth);
  using shrink = decltype(Settings::shrink);
  table_state(const Settings& chosen, Policy slots) : policy(std::move(slots)), settings(chosen), retired(home) {}
  /// Only what take_over needs; it does the rest.
  table_state(table_state&& from) noexcept
      : home(from.home), policy(from.policy), lasting_maintenance(from.lasting_maintenance), settings(from.settings),
        least_extent(from.least_extent), retired(home) {}

  // Each operation reads this line. It is written only when a migration begins or ends.
  alignas(cpu::cache_line) sync::word<Generation*, Threads> root; // the oldest generation that still holds entries
  [[no_unique_address]] Counter entries;
  sync::word<std::uint32_t, Threads> maintenance;     // further work for writes: bits of `write_duty` and of the engine
  const domain_ref home = domain_of_table<Threads>(); // its thread records keep alive what the table shows
  place_stock<Threads> places;                        // `settings.capacity` places, of a `fixed` table
  Policy policy;
  std::uint32_t lasting_maintenance = 0; // bits that the engine has set for the table's life
  Settings settings;
  std::uint64_t least_extent = 1; // the smallest size of a shrink, from `settings.capacity`

  alignas(cpu::cache_line) small_lock<Threads> grow_lock; // for the creation of successors
  small_lock<Threads> shape_lock;                         // one snapshot, reserve or shrink_to_fit at a time
  retired_arrays<Generation, Threads> retired;            // generations that wait to be freed
  sync::word<std::uint64_t, Threads> ticks;               // limits how often the size is read
  sync::word<std::uint64_t, Threads> looks;               // limits how often all thread records are read
  sync::word<std::uint64_t, Threads> growths;
  sync::word<std::uint64_t, Threads> shrinks;
  sync::word<std::uint64_t, Threads> rebuilds;
  sync::word<std::uint32_t, Threads>
      has_no_worker;        // 1: the worker has no thread record or does not exist, so callers move entries
  background_worker worker; // idle unless growth is `background`
};

/// The generation with which an operation begins.
template <class Table> CUBBY_ALWAYS_INLINE typename Table::generation_type* first(const Table& t) noexcept {
  // [root] seq_cst: pairs with [advance-root]; the first load of a verb stays behind what its thread did before (A.1)
  return t.root.load(sync::seq_cst);
}
/// The successor, or null while nothing moves.
template <generation G> CUBBY_ALWAYS_INLINE G* next_of(const G& of) noexcept {
  // [next] acquire: pairs with [publish-next]
  return of.next.load(sync::acquire);
}

/// Whether all its entries have moved.
template <generation G> bool is_complete(const G& of) noexcept {
  const G* const next = next_of(of);
  if (next == nullptr) return false;
  // [done] acquire: pairs with [count-done]
  return of.done.load(sync::acquire) == of.parts_to(*next);
}

/// Wakes the thread of a `background` table. The child of a fork has none.
template <class Table> void tell_worker(Table& t) noexcept {
  if (t.settings.growth != Table::growth::background) return;
  // relaxed: see is_left_to_worker
  if (!t.worker.notify()) t.has_no_worker.store(1, sync::relaxed);
}

/// Tells writes that there are entries to move or generations to free.
template <class Table> void note_maintenance(Table& t) noexcept {
  // relaxed: a hint; writes load the root, too
  t.maintenance.store(t.lasting_maintenance | write_duty::move_or_free, sync::relaxed);
}

/// Moves the root past each generation that is complete, and retires those generations.
template <class Table> void advance_root(Table& t) noexcept {
  for (;;) {
    auto* const old = first(t);
    if (!is_complete(*old)) return;
    auto* expected = old;
    // [advance-root] release: pairs with [root]
    // relaxed: another thread has moved the root; the loop looks again
    if (!t.root.compare_exchange(expected, next_of(*old), sync::release, sync::relaxed)) continue;
    auto& reached = *next_of(*old);
    becomes_first(t, reached);
    // The worker may be asleep, because another thread held the last units of the old generation. That thread may never write
    // again.
    if (next_of(reached) != nullptr) tell_worker(t);
    lock_scope hold(t.retired.lock);
    t.retired.add(*old);
    note_maintenance(t); // writes may have cleared it since the root moved
  }
}

/// Counts parts as moved. The caller advances the root later, when no thread waits for anything that it holds.
template <generation G> void add_done(G& of, std::uint64_t parts) noexcept {
  // [count-done] acq_rel: pairs with [done]; the thread that completes the count has seen every mover's work
  (void)of.done.fetch_add(parts, sync::acq_rel);
}
/// Counts the parts that the caller has moved, and advances the root if they were the last.
template <class Table>
void count_done(Table& t, typename Table::generation_type& of, std::uint64_t parts) noexcept {
  if (parts == 0) return;
  add_done(of, parts);
  if (is_complete(of)) advance_root(t);
}

/// Returns the successor of `of`, and creates it if there is none. `make()` runs under the lock of growth and returns a complete
/// successor, or null. Null: no memory.
template <class Table, class Make>
typename Table::generation_type* create_next(Table& t, typename Table::generation_type& of, Make make) noexcept {
  lock_scope hold(t.grow_lock);
  if (auto* const there = next_of(of)) return there;
  auto* const made = make();
  if (made == nullptr) return nullptr;
  const std::uint64_t before = of.extent();
  const std::uint64_t after = made->extent();
  auto& kind = after > before ? t.growths : after < before ? t.shrinks : t.rebuilds;
  (void)kind.fetch_add(1, sync::relaxed); // relaxed: a statistic
  note_maintenance(t);
  // [publish-next] release: pairs with [next]
  of.next.store(made, sync::release);
  tell_worker(t);
  return made;
}

/// Frees retired generations that no pin protects, at most `slice` bytes in a call. The caller holds the lock of `retired`.
template <class Table> void release_locked(Table& t, std::size_t slice) noexcept {
  if constexpr (!Table::threads::is_shared) {
    if (!t.bag.alone()) return; // an outer scan may be in one of them
  }
  t.retired.release(slice);
}
template <class Table> void release_retired(Table& t, std::size_t slice = ~std::size_t{0}) noexcept {
  lock_scope hold(t.retired.lock);
  release_locked(t, slice);
}

/// Whether the table has been made, and not ended.
template <class Table> bool is_open(const Table& t) noexcept {
  return t.root.load(sync::relaxed) != nullptr; // relaxed: it changes while one thread has the table
}

/// Calls `last_look` for each generation, the oldest first, and frees it. No other thread may use the table any more.
template <class Table, class F> void free_generations(Table& t, F last_look) {
  t.worker.stop();
  auto* at = t.root.load(sync::relaxed); // relaxed: no other thread is here
  while (at != nullptr) {
    last_look(*at);
    auto* const next = at->next.load(sync::relaxed); // relaxed: as above
    free_array(at);
    at = next;
  }
  t.root.store(nullptr, sync::relaxed); // relaxed: as above
  t.retired.free_all();
}

/// The next generation that is not empty by now, or null.
template <class Generation> const Generation* next_with_entries(const Generation& of) noexcept {
  const Generation* at = next_of(of);
  while (at != nullptr && is_complete(*at)) at = next_of(*at);
  return at;
}
/// Calls `f(generation)` from the oldest on, in the direction in which entries move. Skips generations that are empty by then.
template <class Table, class F> void for_each_generation(const Table& t, F f) {
  for (const auto* at = first(t); at != nullptr; at = next_with_entries(*at)) f(*at);
}

/// The slots of the oldest generation. Needs no pin, because generations are freed only under the lock that it takes.
template <class Table> std::size_t capacity(const Table& t) noexcept {
  lock_scope keep(t.retired.lock);
  return first(t)->slot_count();
}
/// The statistics of all such tables. `add(figures, oldest generation)` adds the engine's. Needs no pin, as above.
template <class Figures, class Table, class Add> Figures figures_of(const Table& t, Add add) noexcept {
  Figures out;
  memory::region_list pages;
  {
    lock_scope keep(t.retired.lock);
    const auto& oldest = *first(t);
    out.capacity = oldest.slot_count();
    out.bins = oldest.extent();
    add(out, oldest);
    std::size_t chained = 0;
    for (const auto* one = &oldest; one != nullptr; one = next_of(*one), ++chained) pages.add(one->pages);
    out.migrating = chained > 1;
    out.bytes = pages.bytes() + t.retired.bytes();
    out.retired += t.retired.count();
  }
  out.huge_bytes = pages.huge_bytes();           // reads a file, so not under the lock
  out.growths = t.growths.load(sync::relaxed);   // relaxed: a statistic
  out.shrinks = t.shrinks.load(sync::relaxed);   // relaxed: a statistic
  out.rebuilds = t.rebuilds.load(sync::relaxed); // relaxed: a statistic
  return out;
}

} // namespace cubby::inline v0::detail::generations
