// SPDX-License-Identifier: Apache-2.0
// Growing, shrinking and rebuilding, which the paper leaves to "GrowT-like" schemes. Nobody is stopped: slots move one by
// one to the next array, each in two steps, moving and moved; the empty ones are sealed. Units of lines are shared out
// among inserts (`incremental`), whoever needs the room (`cooperative`) or a thread of the table (`background`).
#pragma once

#include <bit>

#include <cubby/engine/dramhit/side.hpp>

namespace cubby::inline v0::engines::dramhit {

/// 2^46 bytes: more than there is memory for, and products of sizes below it do not wrap.
inline constexpr std::uint64_t most_lines = std::uint64_t{1} << 40;
/// No array is smaller, so that a few threads that overlook each other's inserts do not fill one up.
inline constexpr std::uint64_t fewest_lines = 16;
/// Side lines for keys with reserved words in record mode: one in so many; more when more such keys are there.
inline constexpr std::uint64_t lines_a_side_line = 64;

/// With half of its slots kept for what is due (J5).
template <class Policy> constexpr std::uint64_t side_lines_for(std::uint64_t lines, std::uint64_t due) noexcept {
  if (!Policy::unique_words) return 1;
  const std::uint64_t share = lines / lines_a_side_line;
  return 1 + (share < due / 2 ? due / 2 : share);
}

/// An array with every slot empty, or null when there is no memory. Pages arrive at first use.
template <class Policy, class Threads>
array<Threads>* make_array(std::uint64_t lines, std::uint64_t side_due = 0) noexcept {
  using cell = sync::word<std::uint64_t, Threads>;
  if (lines > most_lines) return nullptr;
  auto* const made = new (std::nothrow) array<Threads>;
  if (made == nullptr) return nullptr;
  made->lines = lines;
  made->side_lines = side_lines_for<Policy>(lines, side_due);
  made->side_due = side_due;
  const std::uint64_t slot_bytes = made->all_slots() * sizeof(slot<Threads>);
  made->pages = memory::allocate(slot_bytes + made->units() * sizeof(cell));
  if (made->pages.address == nullptr) {
    delete made;
    return nullptr;
  }
  // Zero bytes are empty slots, so the mapping is used as it comes.
  made->slots = reinterpret_cast<slot<Threads>*>(made->pages.address);
  made->cells = reinterpret_cast<cell*>(made->pages.address + slot_bytes);
  return made;
}

/// Lines in which `entries` take three slots of four: the paper's larger load, 1.1 lines a find.
inline std::uint64_t lines_for(std::uint64_t entries) noexcept {
  const std::uint64_t lines = entries / 3 + (entries % 3 != 0 ? 1 : 0);
  return lines < fewest_lines ? fewest_lines : lines;
}

/// Small tables grow in larger steps: what they move soon moves again.
inline std::uint64_t growth_factor(std::uint64_t lines, const options& chosen) noexcept {
  if (chosen.growth_factor >= 2) return chosen.growth_factor < 64 ? chosen.growth_factor : 64;
  return lines < 1024 ? 8 : lines < (std::uint64_t{1} << 16) ? 4 : 2;
}

/// Slots of `a` that are in use or spoken for by what still has to move here.
template <class Policy, class Threads>
std::uint64_t used_slots(const table<Policy, Threads>& t, const array<Threads>& a) noexcept {
  const std::int64_t used = t.claims.total() - a.base;
  return used < 0 ? 0 : static_cast<std::uint64_t>(used);
}

/// Live and dead together past this mark: time for the next array.
template <class Policy, class Threads>
bool is_crowded(const table<Policy, Threads>& t, const array<Threads>& a) noexcept {
  return used_slots(t, a) > a.slot_count() - a.slot_count() / 5;
}
/// Users stay out of an array that is still being filled before what has to move there could miss a slot.
template <class Policy, class Threads>
bool is_reserved_for_moves(const table<Policy, Threads>& t, const array<Threads>& a) noexcept {
  // relaxed: a stale 1 sends an insert one array further than it need be
  if (a.filling.load(sync::relaxed) == 0) return false;
  const std::uint64_t margin = a.slot_count() / 8 < 16 ? 16 : a.slot_count() / 8;
  return used_slots(t, a) + margin >= a.slot_count();
}

/// What an insert takes in `a` has to move to every array behind it, so none of them may be short of room either.
template <class Policy, class Threads>
bool has_room_behind(const table<Policy, Threads>& t, const array<Threads>& a) noexcept {
  for (const array<Threads>* at = &a; at != nullptr; at = next_array(*at))
    if (is_reserved_for_moves(t, *at)) return false;
  return true;
}

/// Frees all retired arrays whose time has come.
template <class Policy, class Threads> void release_arrays(table<Policy, Threads>& t) noexcept {
  lock_scope hold(t.retired.lock);
  t.retired.release(~std::size_t{0});
}
/// A slice of them, so that no insert works for long; none while somebody else has the lock.
template <class Policy, class Threads> void release_in_passing(table<Policy, Threads>& t) noexcept {
  if (!t.retired.lock.try_lock()) return;
  t.retired.release(release_slice);
  if (t.retired.empty()) t.keeps_arrays.store(0, sync::relaxed); // relaxed: a hint, set and cleared under this lock
  t.retired.lock.unlock();
}
/// When nothing moves any more: whoever moved the last unit could not free the array, which its own pin kept.
template <class Policy, class Threads>
CUBBY_NEVER_INLINE void release_now_and_then(table<Policy, Threads>& t) noexcept {
  // A look at all seats is a system call: one call in 64 makes it.
  // relaxed: rations, nothing else
  if (t.looks.fetch_add(1, sync::relaxed) % 64 == 0) release_in_passing(t);
}

template <class Threads> bool is_complete(const array<Threads>& a) noexcept {
  // [units-done] acquire: pairs with [count-units]
  return next_array(a) != nullptr && a.done.load(sync::acquire) == a.units();
}

/// Lets the root step over every array that is complete, and retires those.
template <class Policy, class Threads> void advance_root(table<Policy, Threads>& t) noexcept {
  for (;;) {
    array<Threads>* const old = first_array(t);
    if (!is_complete(*old)) return;
    array<Threads>* expected = old;
    // [step-root] release: pairs with [array-root]
    // relaxed: somebody else stepped; the loop looks again
    if (!t.root.compare_exchange(expected, next_array(*old), sync::release, sync::relaxed)) continue;
    array<Threads>& now_first = *next_array(*old);
    now_first.filling.store(0, sync::relaxed); // relaxed: see is_reserved_for_moves
    // The mover may have gone to sleep over the last units of the old array, which somebody else held.
    if (t.settings.growth == growth_policy::background && next_array(now_first) != nullptr) t.worker.notify();
    lock_scope hold(t.retired.lock);
    t.retired.add(*old);
    t.keeps_arrays.store(1, sync::relaxed); // relaxed: a hint to writes
  }
}

/// Creates the successor of `a` with so many lines, unless it has one; null: no memory.
template <class Policy, class Threads>
array<Threads>* make_next(table<Policy, Threads>& t, array<Threads>& a, std::uint64_t lines) noexcept {
  lock_scope hold(t.grow_lock);
  if (auto* const there = next_array(a)) return there;
  // Others may have inserted since the caller took the measure for a smaller one.
  if (const std::uint64_t needed = lines_for(live_entries(t)); lines < a.lines && lines < needed) lines = needed;
  array<Threads>* const made = make_array<Policy, Threads>(lines, close_side(t, a));
  if (made == nullptr) {
    open_side<Policy>(a);
    return nullptr;
  }
  made->base = t.erases.total();         // all claims so far, less those that are still live
  made->filling.store(1, sync::relaxed); // relaxed: [publish-array] publishes it
  auto& kind = lines > a.lines ? t.growths : lines < a.lines ? t.shrinks : t.rebuilds;
  (void)kind.fetch_add(1, sync::relaxed); // relaxed: a statistic
  // [publish-array] release: pairs with [array-next]
  a.next.store(made, sync::release);
  if (t.settings.growth == growth_policy::background) t.worker.notify();
  return made;
}

/// How many slots of a chain's region the dead take.
template <class Policy, class Threads>
std::uint64_t dead_in(const table<Policy, Threads>& t, const array<Threads>& a, const chain<Threads>& c) noexcept {
  if (c.first == a.slots) {
    const std::uint64_t live = live_entries(t);
    const std::uint64_t used = used_slots(t, a);
    return used > live ? used - live : 0;
  }
  std::uint64_t gone = 0;
  for (std::uint64_t i = 0; i < c.count; ++i)
    gone += c.first[i].first.load(sync::relaxed) == dead ? 1 : 0; // relaxed: a recent figure
  return gone;
}

/// Lines of the array after `a`: more when the live ones crowd it, as many when the dead ones do, or when it is the side
/// region that has too little room: that one grows by what is due there. 0: a `fixed` table is full.
template <class Policy, class Threads>
std::uint64_t lines_after(const table<Policy, Threads>& t, const array<Threads>& a, const chain<Threads>& c) noexcept {
  if (t.settings.growth == growth_policy::fixed) return dead_in(t, a, c) >= c.count / 16 + 1 ? a.lines : 0;
  if (live_entries(t) < a.slot_count() / 5 * 2) return a.lines;
  return a.lines * growth_factor(a.lines, t.settings);
}

/// A live word into the first free slot of its chain, in `a` or further on. Nobody else can insert its key meanwhile:
/// everybody finds it where it comes from.
template <class Policy, class Threads>
void place(table<Policy, Threads>& t, array<Threads>* a, const word_probe& p, std::uint64_t value) noexcept {
  sync::backoff wait;
  const std::uint64_t word = stored_word(p.word);
  const bool in_side = is_in_shared_side<Policy>(p);
  while (true) {
    const auto seen = search(*a, chain_of<Policy>(*a, p), word, [](std::uint64_t) { return false; });
    if (seen.how == stop::end) {
      if (in_side) join_side(*a);
      // [entry] acq_rel: pairs with [look], [look-value]
      if (seen.where->compare_exchange({seen.key, seen.value}, {word, value})) return;
      if (in_side) leave_side(*a);
      continue;
    }
    array<Threads>* further = next_array(*a);
    if (further == nullptr) further = make_next(t, *a, a->lines * growth_factor(a->lines, t.settings));
    // Without memory: a slot has been kept for this word in the side region (J5), and in the main region by
    // is_reserved_for_moves, unless more inserts than its margin have overlooked each other. Then there is nothing but
    // to wait until memory comes.
    if (further == nullptr) wait.pause();
    else a = further;
  }
}

/// Moves the live word of `s`, or seals the slot if it is free.
template <class Policy, class Threads>
void move_slot(table<Policy, Threads>& t, array<Threads>& a, slot<Threads>& s, std::uint64_t unit) noexcept {
  const bool in_main = &s < a.slots + a.slot_count();
  for (;;) {
    // [look] acquire: pairs with [entry]
    const std::uint64_t seen = s.first.load(sync::acquire);
    const auto [key, value] = words_of(s, seen);
    if (key == dead && (in_main || Policy::unique_words)) return;
    if (key == moved || (key == empty && value == sealed_mark)) return;
    if (is_reserved(key)) { // empty, or dead in a slot of its own
      // [entry] acq_rel: pairs with [look], [look-value]
      if (s.compare_exchange({key, value}, closed(key, value))) return;
      continue;
    }
    // [carry] release: pairs with [carried]; what stood here told of a slot that is moved by now
    a.cells[unit].store(key, sync::release);
    // [entry] acq_rel: pairs with [look], [look-value]
    if (!s.compare_exchange({key, value}, {moving, value})) continue;
    const std::uint64_t asked = in_main ? key : key - reserved_words;
    place(t, next_array(a), word_probe{t.policy.hash_of(asked, value), asked}, value);
    // [moved-on] release: pairs with [look]
    s.first.store(moved, sync::release);
    return;
  }
}

/// Asks memory for the lines that a unit's words will move to.
template <class Policy, class Threads>
void prefetch_unit(const table<Policy, Threads>& t, const array<Threads>& a, std::uint64_t from,
                   std::uint64_t to) noexcept {
  const array<Threads>& next = *next_array(a);
  for (std::uint64_t i = from; i < to; ++i) {
    // relaxed: a hint, for entries that are their own words; a record may be gone by the time it is hashed
    const std::uint64_t key = a.slots[i].first.load(sync::relaxed);
    if constexpr (!Policy::unique_words) {
      if (!is_reserved(key)) prefetch_line(home_line<Policy>(next, t.policy.hash_of(key, 0)));
    }
  }
}

/// Takes up to `count` units of `a` and moves them. False when there was none left to take.
template <class Policy, class Threads>
bool move_units(table<Policy, Threads>& t, array<Threads>& a, std::uint64_t at_most) noexcept {
  const std::uint64_t units = a.units();
  const std::uint64_t count = at_most < units ? at_most : units; // sums of a few counts do not wrap
  // relaxed: shares out numbers only
  if (a.cursor.load(sync::relaxed) >= units) return false;
  const std::uint64_t first = a.cursor.fetch_add(count, sync::relaxed); // relaxed: as above
  if (first >= units) return false;
  const std::uint64_t last = first + count < units ? first + count : units;
  for (std::uint64_t unit = first; unit < last; ++unit) {
    const std::uint64_t from = unit * unit_slots;
    const std::uint64_t to = from + unit_slots < a.all_slots() ? from + unit_slots : a.all_slots();
    prefetch_unit(t, a, from, to);
    for (std::uint64_t i = from; i < to; ++i) move_slot(t, a, a.slots[i], unit);
  }
  // [count-units] acq_rel: pairs with [units-done]; whoever completes has seen every mover's work
  (void)a.done.fetch_add(last - first, sync::acq_rel);
  advance_root(t);
  return true;
}

/// So many bins as units: one begun counts.
constexpr std::uint64_t units_of(std::size_t bins) noexcept {
  return bins / unit_lines + (bins % unit_lines != 0 ? 1 : 0);
}

/// Moves all that nobody has taken yet, and waits for nobody.
template <class Policy, class Threads> void move_rest(table<Policy, Threads>& t) noexcept {
  for (;;) {
    array<Threads>* const oldest = first_array(t);
    if (next_array(*oldest) == nullptr || !move_units(t, *oldest, t.settings.chunk_bins / unit_lines + 1)) return;
  }
}

/// Moves all of `a` that nobody has taken yet, and waits for the rest; works on while there is anything to move before it.
template <class Policy, class Threads> void move_all(table<Policy, Threads>& t, const array<Threads>& a) noexcept {
  const std::uint64_t chunk = t.settings.chunk_bins / unit_lines + 1;
  sync::backoff wait;
  while (!is_complete(a)) {
    array<Threads>* const oldest = first_array(t);
    if (next_array(*oldest) == nullptr) return;
    if (!move_units(t, *oldest, chunk)) wait.pause();
  }
  advance_root(t);
}

template <class Policy, class Threads> void background_work(void* of) {
  auto& t = *static_cast<table<Policy, Threads>*>(of);
  seat* const mine = registry::local();
  // relaxed: whoever sees it late moves some units too many, or leaves them to the next
  t.unmanned.store(mine == nullptr ? 1 : 0, sync::relaxed);
  if (mine == nullptr) return;
  for (;;) {
    const seat_pin stay(*mine);
    array<Threads>* const oldest = first_array(t);
    if (next_array(*oldest) == nullptr || !move_units(t, *oldest, t.settings.chunk_bins / unit_lines + 1)) break;
  }
  lock_scope hold(t.retired.lock);
  t.retired.release(release_slice);
}

/// What a write does beside its own work.
template <class Policy, class Threads> void chores(table<Policy, Threads>& t) noexcept {
  array<Threads>* const oldest = first_array(t);
  if (next_array(*oldest) == nullptr) [[likely]] {
    // relaxed: a hint; a missed one is seen by the next write
    if (t.keeps_arrays.load(sync::relaxed) != 0) [[unlikely]]
      release_now_and_then(t);
    return;
  }
  // relaxed: see background_work
  if (t.settings.growth == growth_policy::background && t.unmanned.load(sync::relaxed) == 0) return;
  if (t.settings.growth == growth_policy::cooperative) {
    move_rest(t);
  } else {
    (void)move_units(t, *oldest, units_of(t.settings.move_bins));
  }
  release_in_passing(t);
}

} // namespace cubby::inline v0::engines::dramhit
