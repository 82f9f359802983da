// SPDX-License-Identifier: Apache-2.0
// A walk over all entries, a table's beginning and end, its figures, and the sizes that a user asks for.
#pragma once

#include <cubby/engine/dramhit/insert.hpp>

namespace cubby::inline v0::engines::dramhit {

/// `f(key word, value word)` for each entry of one array, those on their way out included.
template <class Threads, class F> void for_each_in(const array<Threads>& a, F& f) {
  for (std::uint64_t i = 0; i < a.all_slots(); ++i) {
    slot<Threads>& s = a.slots[i];
    // [look] acquire: pairs with [entry]
    std::uint64_t key = s.first.load(sync::acquire);
    if (key == moving) {
      // [carried] acquire: pairs with [carry]
      const std::uint64_t carried = a.cells[i / unit_slots].load(sync::acquire);
      if (s.first.load(sync::acquire) == moving) key = carried; // [look] acquire: pairs with [moved-on]
    }
    if (is_reserved(key)) continue;
    // [look-value] acquire: pairs with [entry]
    const std::uint64_t value = s.second.load(sync::acquire);
    f(i < a.slot_count() ? key : key - reserved_words, value);
  }
}

/// Weak: an entry that is there all the time is met at least once, and again if it moves behind the walk. From the oldest
/// array on, the way that entries go; past arrays that are empty by then.
template <class Policy, class Threads, class F> void for_each(const table<Policy, Threads>& t, F& f) {
  const array<Threads>* a = first_array(t);
  while (a != nullptr) {
    for_each_in(*a, f);
    a = next_array(*a);
    while (a != nullptr && is_complete(*a)) a = next_array(*a);
  }
}

/// Makes a new table ready; false: no memory, or no thread for background growth.
template <class Policy, class Threads> bool open(table<Policy, Threads>& t) noexcept {
  if (t.settings.move_bins == 0) t.settings.move_bins = 1;
  t.floor_lines = lines_for(t.settings.capacity);
  auto* const first = make_array<Policy, Threads>(t.floor_lines);
  if (first == nullptr) return false;
  t.root.store(first, sync::relaxed); // relaxed: the table is not shared yet
  return t.settings.growth != growth_policy::background || t.worker.start(background_work<Policy, Threads>, &t);
}

/// Disposes of every word and frees every array. Nobody else may use the table any more.
template <class Policy, class Threads> void close(table<Policy, Threads>& t) {
  t.worker.stop();
  array<Threads>* a = t.root.load(sync::relaxed); // relaxed: nobody else is here
  while (a != nullptr) {
    const auto dispose = [&](std::uint64_t, std::uint64_t value) { t.policy.dispose(value); };
    if constexpr (Policy::unique_words) for_each_in(*a, dispose);
    array<Threads>* const next = a->next.load(sync::relaxed); // relaxed: as above
    free_array(a);
    a = next;
  }
  t.retired.free_all();
}

/// Slots of the oldest array. Needs no pin: arrays are only freed under the lock that it takes.
template <class Policy, class Threads> std::size_t capacity(const table<Policy, Threads>& t) noexcept {
  lock_scope keep(t.retired.lock);
  return first_array(t)->slot_count();
}

/// Needs no pin, as above.
template <class Policy, class Threads> table_stats stats(const table<Policy, Threads>& t) noexcept {
  table_stats out;
  memory::region_list pages;
  out.retired = t.bag.waiting();
  {
    lock_scope keep(t.retired.lock);
    const array<Threads>& a = *first_array(t);
    out.capacity = a.slot_count();
    out.bins = a.lines;
    for (const array<Threads>* one = &a; one != nullptr; one = next_array(*one)) pages.add(one->pages);
    out.bytes = pages.bytes() + t.retired.bytes();
    out.retired += t.retired.count();
    out.migrating = next_array(a) != nullptr;
  }
  out.huge_bytes = pages.huge_bytes(); // reads a file: not under the lock
  out.size = live_entries(t);
  out.growths = t.growths.load(sync::relaxed);   // relaxed: a statistic
  out.shrinks = t.shrinks.load(sync::relaxed);   // relaxed: a statistic
  out.rebuilds = t.rebuilds.load(sync::relaxed); // relaxed: a statistic
  return out;
}

/// Helps every migration to its end; waits for threads that are moving their last unit.
template <class Policy, class Threads> void finish_moves(table<Policy, Threads>& t) noexcept {
  for (array<Threads>* oldest = first_array(t); next_array(*oldest) != nullptr; oldest = first_array(t))
    move_all(t, *oldest);
}

/// Moves everything to an array of `lines` if `is_wrong(lines of the last one)`, and on while others add arrays. False: no
/// memory.
template <class Policy, class Threads, class F>
bool settle_in(table<Policy, Threads>& t, std::uint64_t lines, F is_wrong) noexcept {
  array<Threads>* a = first_array(t);
  while (array<Threads>* const next = next_array(*a)) a = next;
  if (is_wrong(a->lines) && make_next(t, *a, lines) == nullptr) return false;
  finish_moves(t);
  release_arrays(t);
  return true;
}

/// Room for so many entries. False: no memory, or the table is `fixed`.
template <class Policy, class Threads> bool reserve(table<Policy, Threads>& t, std::size_t entries) noexcept {
  lock_scope alone(t.shape_lock);
  const std::uint64_t wanted = lines_for(entries);
  if (wanted > most_lines) return false;
  if (t.settings.growth == growth_policy::fixed) return wanted <= t.floor_lines;
  finish_moves(t);
  const auto is_small = [wanted](std::uint64_t lines) { return lines < wanted; };
  while (is_small(first_array(t)->lines))
    if (!settle_in(t, wanted, is_small)) return false; // others may have grown it further meanwhile
  return true;
}

/// Gives room back that the entries do not need, the dead ones' included. False: no memory.
template <class Policy, class Threads> bool shrink_to_fit(table<Policy, Threads>& t) noexcept {
  lock_scope alone(t.shape_lock);
  if (t.settings.shrink == shrink_policy::never) return true;
  const std::uint64_t needed = lines_for(live_entries(t));
  const std::uint64_t wanted = needed < t.floor_lines ? t.floor_lines : needed;
  // A shrink that would give back less than an eighth is not worth its moves.
  array<Threads>* const oldest = first_array(t);
  if (next_array(*oldest) == nullptr && oldest->lines <= wanted + wanted / 8) return true;
  return settle_in(t, wanted, [wanted](std::uint64_t lines) { return lines > wanted; });
}

/// `automatic`: every so many erases of a seat, a look at whether the table is nearly empty.
template <class Policy, class Threads> void after_erase(table<Policy, Threads>& t) noexcept {
  if (t.settings.shrink != shrink_policy::automatic) return;
  constexpr std::uint64_t between_looks = 64;
  // relaxed: rations the looks only
  if (t.ticks.fetch_add(1, sync::relaxed) % between_looks != 0) return;
  array<Threads>* const oldest = first_array(t);
  if (next_array(*oldest) != nullptr || oldest->lines / 2 < t.floor_lines) return;
  // An eighth of the slots: after halving, a quarter, and far from the mark for growing.
  if (live_entries(t) < oldest->slot_count() / 8) (void)make_next(t, *oldest, oldest->lines / 2);
}

} // namespace cubby::inline v0::engines::dramhit
