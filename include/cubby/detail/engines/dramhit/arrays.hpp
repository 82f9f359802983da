// SPDX-License-Identifier: Apache-2.0
// Tables of one flat array in which no slot is used twice, for both slot layouts of the engine. This file decides when an array is
// crowded, what it keeps free for entries that move to it, and how large the next one is. An array is a generation
// (core/generations.hpp) that has `lines`, `arriving` and `base` as well. For its table, a layout has lines_for(table, entries),
// make_successor(table, array, lines), null without memory, and move_range (core/migration.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <cubby/detail/core/counter.hpp>
#include <cubby/detail/core/migration.hpp>

namespace cubby::inline v0::detail::arrays {

/// 2^46 bytes: more than there is memory for, and products of sizes below it do not wrap.
inline constexpr std::uint64_t most_lines = std::uint64_t{1} << 40;
/// Lines that move together: the least that one write does for a migration. Fewer let more writes through while it lasts, but it
/// lasts longer, and less is done in all (docs/dead-ends.md).
inline constexpr std::size_t unit_lines = 8;

/// What a table consists of, beside what its layout adds.
template <class Array, class Policy, class Settings>
struct table_state : generations::table_state<Array, Policy, Settings, sync::shared> {
  using array_type = Array;
  static constexpr bool every_write_cooperates = true; // an array that is full has no space for any key
  using base = generations::table_state<Array, Policy, Settings, sync::shared>;
  table_state(const Settings& chosen, Policy slots) : base(chosen, std::move(slots)) {}
  table_state(table_state&& from) noexcept : base(std::move(from)) {} // the layout's table moves the counters, too
  striped_counter<sync::shared> claims; // slots that inserts have taken since the table began
  striped_counter<sync::shared> erases; // entries that have been erased
};

template <class Table> CUBBY_ALWAYS_INLINE typename Table::array_type* first_array(const Table& t) noexcept {
  return generations::first(t);
}
template <class Array> CUBBY_ALWAYS_INLINE Array* next_array(const Array& a) noexcept {
  return generations::next_of(a);
}

/// All entries of the previous array are in this one.
template <class Table> void becomes_first(Table&, typename Table::array_type& a) noexcept {
  a.arriving.store(0, sync::relaxed); // relaxed: see is_reserved_for_moves
}

template <class Table> std::uint64_t live_entries(const Table& t) noexcept {
  // Erases first: an entry whose erase is counted has its insert counted when no thread writes, and mostly otherwise.
  const std::int64_t gone = t.erases.total();
  const std::int64_t came = t.claims.total();
  return came < gone ? 0 : static_cast<std::uint64_t>(came - gone);
}

/// Slots of `a` that are in use, or reserved for what still has to move here.
template <class Table>
std::uint64_t used_slots(const Table& t, const typename Table::array_type& a) noexcept {
  const std::int64_t used = t.claims.total() - a.base;
  return used < 0 ? 0 : static_cast<std::uint64_t>(used);
}
/// The dead slots among them.
template <class Table>
std::uint64_t dead_slots(const Table& t, const typename Table::array_type& a) noexcept {
  const std::uint64_t live = live_entries(t);
  const std::uint64_t used = used_slots(t, a);
  return used > live ? used - live : 0;
}

/// If live and dead slots together pass this mark, the next array is made.
template <class Table> bool is_crowded(const Table& t, const typename Table::array_type& a) noexcept {
  return used_slots(t, a) > a.slot_count() - a.slot_count() / 5;
}
/// Users' inserts leave an array to which entries still move, so that each entry that has to move there finds a slot.
template <class Table> bool is_reserved_for_moves(const Table& t, const typename Table::array_type& a) noexcept {
  // relaxed: a stale 1 sends an insert one array further than it need be
  if (a.arriving.load(sync::relaxed) == 0) return false;
  const std::uint64_t margin = a.slot_count() / 8 < 16 ? 16 : a.slot_count() / 8;
  return used_slots(t, a) + margin >= a.slot_count();
}
/// An entry that is inserted in `a` has to move to each later array, so none of them may lack space either.
template <class Table> bool has_space_behind(const Table& t, const typename Table::array_type& a) noexcept {
  for (const auto* at = &a; at != nullptr; at = next_array(*at))
    if (is_reserved_for_moves(t, *at)) return false;
  return true;
}
/// An insert has ended without an entry; it has a place, or the table has no bound.
template <class Table>
CUBBY_ALWAYS_INLINE void give_place_back(Table& t, std::uint64_t thread_record_id, bool has_place) noexcept {
  if (has_place && t.places.is_bounded()) [[unlikely]]
    t.places.give(thread_record_id);
}
/// An entry was erased: in a `fixed` table another thread may take its place.
template <class Table> CUBBY_ALWAYS_INLINE void count_erase(Table& t, std::uint64_t thread_record_id) noexcept {
  t.erases.add(thread_record_id, 1);
  if (t.places.is_bounded()) [[unlikely]]
    t.places.give(thread_record_id);
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

/// Creates the successor of `a` with so many lines, unless it has one; null: no memory.
template <class Table>
typename Table::array_type* make_next(Table& t, typename Table::array_type& a, std::uint64_t lines) noexcept {
  using array = typename Table::array_type;
  return generations::create_next(t, a, [&]() -> array* {
    // Other threads may have inserted since the caller has computed the size of a smaller one.
    const std::uint64_t needed = lines_for(t, live_entries(t));
    array* const made = make_successor(t, a, lines < a.lines && lines < needed ? needed : lines);
    if (made == nullptr) return nullptr;
    made->base = t.erases.total();          // all claims so far, less those that are still live
    made->arriving.store(1, sync::relaxed); // relaxed: [publish-next] publishes it
    return made;
  });
}

/// What keeps an insert from going on; `nothing`: it may look at its array again.
enum class lack : std::uint8_t { nothing, space, memory };
/// Where an insert goes on that may not, or cannot, take a slot of an array. Without a `next` one, `of` says what is missing.
/// The functions that get it are not inlined: each further word that an insert keeps costs the inserts that need none of
/// this.
template <class Array> struct way_on {
  Array* next = nullptr;
  lack of = lack::space;
};
/// The array after `a`; if there is none yet, with `lines()` lines, and 0 says that a `fixed` table is full.
template <class Table, class F>
CUBBY_NEVER_INLINE way_on<typename Table::array_type> array_after(Table& t, typename Table::array_type& a,
                                                                  F lines) noexcept {
  if (auto* const next = next_array(a)) return {next};
  const std::uint64_t wanted = lines();
  if (wanted == 0) return {};
  auto* const made = make_next(t, a, wanted);
  if (made != nullptr && t.settings.growth == Table::growth::cooperative) generations::move_rest(t);
  return {made, lack::memory};
}
/// The same for an insert that has met a free slot of `a` and may not take it. A `fixed` table that is being rebuilt is full
/// before its bound, as long as entries move into it (is_reserved_for_moves). So the insert moves what no thread has taken yet, and
/// looks whether there is space then. It does not wait for other movers.
template <class Table, class F>
CUBBY_NEVER_INLINE way_on<typename Table::array_type> array_after_free_slot(Table& t, typename Table::array_type& a,
                                                                            F lines) noexcept {
  auto on = array_after(t, a, lines);
  if (on.next != nullptr || on.of != lack::space) return on;
  generations::move_rest(t);
  if (has_space_behind(t, a)) on.of = lack::nothing;
  return on;
}
/// The figures of the table; `size` counts entries.
template <class Figures, class Table> Figures figures_of(const Table& t) noexcept {
  auto out = generations::figures_of<Figures>(t, [](Figures&, const typename Table::array_type&) {});
  out.size = live_entries(t);
  return out;
}

/// `automatic`: every so many erases, a look at whether the table is nearly empty.
template <class Table> void after_erase(Table& t) noexcept {
  if (t.settings.shrink != Table::shrink::automatic) return;
  constexpr std::uint64_t between_looks = 64;
  // relaxed: rations the looks only
  if (t.ticks.fetch_add(1, sync::relaxed) % between_looks != 0) return;
  auto* const oldest = first_array(t);
  if (next_array(*oldest) != nullptr || oldest->lines / 2 < t.least_extent) return;
  // An eighth of the slots: after halving, a quarter, and far from the mark for growing.
  if (live_entries(t) < oldest->slot_count() / 8) (void)make_next(t, *oldest, oldest->lines / 2);
}

} // namespace cubby::inline v0::detail::arrays
