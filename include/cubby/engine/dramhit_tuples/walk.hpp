// SPDX-License-Identifier: Apache-2.0
// Tables of tuples as a whole: a walk over all entries, beginning and end, figures, and the sizes that a user asks for.
#pragma once

#include <cubby/engine/dramhit_tuples/resize.hpp>

namespace cubby::inline v0::engines::dramhit_tuples {

/// A copy of an entry, if there is one; waits while its value is being written.
template <class Policy, class Threads>
bool read_entry(const tuple<Policy, Threads>& s, typename Policy::stored_key& key,
                typename Policy::stored_value& value) noexcept {
  for (sync::backoff wait;; wait.pause()) {
    // [look-at-tuple] acquire: pairs with [show-tuple], [show-value], [carry-tuple], [tuple-moved]
    const std::uint64_t h = s.header.load(sync::acquire);
    if (state_of(h) != state::live && state_of(h) != state::moving) return false;
    if (is_written(h)) continue;
    read_key(s, key);
    read_value(s, value);
    // relaxed: behind acquire loads of the words, as in look_at
    if (s.header.load(sync::relaxed) == h) return true;
  }
}

/// `f(key words, value words)` for each entry. Weak: an entry that is there all the time is met at least once, and again
/// if it moves behind the walk. From the oldest array on, the way that entries go; past arrays that are empty by then.
template <class Policy, class Threads, class F> void for_each(const table<Policy, Threads>& t, F& f) {
  typename Policy::stored_key key;
  typename Policy::stored_value value;
  const auto* a = first_array(t);
  while (a != nullptr) {
    for (std::uint64_t i = 0; i < a->count(); ++i)
      if (read_entry(a->tuples[i], key, value)) f(key, value);
    a = next_array(*a);
    while (a != nullptr && is_complete(*a)) a = next_array(*a);
  }
}

/// Makes a new table ready; false: no memory, or no thread for background growth.
template <class Policy, class Threads> bool open(table<Policy, Threads>& t) noexcept {
  if (t.settings.move_bins == 0) t.settings.move_bins = 1;
  t.floor_lines = lines_for<Policy, Threads>(t.settings.capacity);
  auto* const first = make_array<Policy, Threads>(t.floor_lines);
  if (first == nullptr) return false;
  t.root.store(first, sync::relaxed); // relaxed: the table is not shared yet
  return t.settings.growth != growth_policy::background || t.worker.start(background_work<Policy, Threads>, &t);
}

/// Frees every array. Nobody else may use the table any more.
template <class Policy, class Threads> void close(table<Policy, Threads>& t) {
  t.worker.stop();
  auto* a = t.root.load(sync::relaxed); // relaxed: nobody else is here
  while (a != nullptr) {
    auto* const next = a->next.load(sync::relaxed); // relaxed: as above
    free_array(a);
    a = next;
  }
  t.retired.free_all();
}

/// Tuples of the oldest array. Needs no pin: arrays are only freed under the lock that it takes.
template <class Policy, class Threads> std::size_t capacity(const table<Policy, Threads>& t) noexcept {
  lock_scope keep(t.retired.lock);
  return first_array(t)->count();
}

/// Needs no pin, as above.
template <class Policy, class Threads> table_stats stats(const table<Policy, Threads>& t) noexcept {
  table_stats out;
  memory::region_list pages;
  {
    lock_scope keep(t.retired.lock);
    const auto& a = *first_array(t);
    out.capacity = a.count();
    out.bins = a.lines;
    for (const auto* one = &a; one != nullptr; one = next_array(*one)) pages.add(one->pages);
    out.bytes = pages.bytes() + t.retired.bytes();
    out.retired = t.retired.count();
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
  for (auto* oldest = first_array(t); next_array(*oldest) != nullptr; oldest = first_array(t)) move_all(t, *oldest);
}

template <class Policy, class Threads> array<Policy, Threads>* last_array(const table<Policy, Threads>& t) noexcept {
  auto* a = first_array(t);
  while (auto* const next = next_array(*a)) a = next;
  return a;
}

/// Room for so many entries. False: no memory, or the table is `fixed`.
template <class Policy, class Threads> bool reserve(table<Policy, Threads>& t, std::size_t entries) noexcept {
  lock_scope alone(t.shape_lock);
  const std::uint64_t wanted = lines_for<Policy, Threads>(entries);
  if (wanted > most_lines) return false;
  if (t.settings.growth == growth_policy::fixed) return wanted <= t.floor_lines;
  do {
    auto* const last = last_array(t);
    if (last->lines < wanted && make_next(t, *last, wanted) == nullptr) return false;
    finish_moves(t);
    release_arrays(t, ~std::size_t{0});
  } while (first_array(t)->lines < wanted); // others may have rebuilt meanwhile
  return true;
}

/// Gives room back that the entries do not need, the dead ones' included. False: no memory.
template <class Policy, class Threads> bool shrink_to_fit(table<Policy, Threads>& t) noexcept {
  lock_scope alone(t.shape_lock);
  if (t.settings.shrink == shrink_policy::never) return true;
  const std::uint64_t needed = lines_for<Policy, Threads>(live_entries(t));
  const std::uint64_t wanted = needed < t.floor_lines ? t.floor_lines : needed;
  // A shrink that would give back less than an eighth is not worth its moves.
  auto* const oldest = first_array(t);
  if (next_array(*oldest) == nullptr && oldest->lines <= wanted + wanted / 8) return true;
  auto* const last = last_array(t);
  if (last->lines != wanted && make_next(t, *last, wanted) == nullptr) return false;
  finish_moves(t);
  release_arrays(t, ~std::size_t{0});
  return true;
}

/// `automatic`: every so many erases, a look at whether the table is nearly empty.
template <class Policy, class Threads> void after_erase(table<Policy, Threads>& t) noexcept {
  if (t.settings.shrink != shrink_policy::automatic) return;
  constexpr std::uint64_t between_looks = 64;
  // relaxed: rations the looks only
  if (t.ticks.fetch_add(1, sync::relaxed) % between_looks != 0) return;
  auto* const oldest = first_array(t);
  if (next_array(*oldest) != nullptr || oldest->lines / 2 < t.floor_lines) return;
  // An eighth of the tuples: after halving, a quarter, and far from the mark for growing.
  if (live_entries(t) < oldest->count() / 8) (void)make_next(t, *oldest, oldest->lines / 2);
}

} // namespace cubby::inline v0::engines::dramhit_tuples
