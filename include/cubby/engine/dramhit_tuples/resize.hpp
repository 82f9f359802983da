// SPDX-License-Identifier: Apache-2.0
// Who settles the tuples of an array that has a successor: units of lines are shared out among writes (`incremental`),
// whoever needs the room (`cooperative`) or a thread of the table (`background`).
#pragma once

#include <cubby/engine/dramhit_tuples/write.hpp>

namespace cubby::inline v0::engines::dramhit_tuples {

/// Takes up to `count` units of `a` and settles them. False when there was none left to take.
template <class Policy, class Threads>
bool move_units(table<Policy, Threads>& t, array<Policy, Threads>& a, std::uint64_t count) noexcept {
  const std::uint64_t units = a.units();
  // relaxed: shares out numbers only
  if (a.cursor.load(sync::relaxed) >= units) return false;
  if (count > units) count = units;
  const std::uint64_t first = a.cursor.fetch_add(count, sync::relaxed); // relaxed: as above
  if (first >= units) return false;
  const std::uint64_t last = first + count < units ? first + count : units;
  for (std::uint64_t unit = first; unit < last; ++unit) {
    const std::uint64_t from = unit * a.in_unit;
    const std::uint64_t to = from + a.in_unit < a.count() ? from + a.in_unit : a.count();
    std::uint64_t settled = 0;
    for (std::uint64_t i = from; i < to; ++i) settled += settle(t, a, a.tuples[i]) ? 1 : 0;
    count_settled(t, a, settled);
  }
  return true;
}

template <class Policy, class Threads> std::uint64_t chunk_of(const table<Policy, Threads>& t) noexcept {
  return t.settings.chunk_bins / unit_lines + 1;
}

/// Moves all of the oldest array that nobody has taken yet, and waits for nobody.
template <class Policy, class Threads> void help_move(table<Policy, Threads>& t) noexcept {
  for (auto* oldest = first_array(t); next_array(*oldest) != nullptr; oldest = first_array(t))
    if (!move_units(t, *oldest, chunk_of(t))) return;
}

/// Moves all of `a` that nobody has taken yet, and waits for the rest; works on while there is anything to move before it.
template <class Policy, class Threads>
void move_all(table<Policy, Threads>& t, const array<Policy, Threads>& a) noexcept {
  sync::backoff wait;
  while (!is_complete(a)) {
    auto* const oldest = first_array(t);
    if (next_array(*oldest) == nullptr) return;
    if (!move_units(t, *oldest, chunk_of(t))) wait.pause();
  }
  advance_root(t);
}

template <class Policy, class Threads> void background_work(void* of) {
  auto& t = *static_cast<table<Policy, Threads>*>(of);
  seat* const mine = registry::local();
  if (mine == nullptr) {
    t.unmanned.store(1, sync::relaxed); // relaxed: a hint to whoever writes
    return;
  }
  t.unmanned.store(0, sync::relaxed); // relaxed: as above
  for (;;) {
    const seat_pin stay(*mine);
    auto* const oldest = first_array(t);
    if (next_array(*oldest) == nullptr || !move_units(t, *oldest, chunk_of(t))) break;
  }
  release_arrays(t);
}

/// What a write does beside its own work.
template <class Policy, class Threads> void chores(table<Policy, Threads>& t) noexcept {
  auto* const oldest = first_array(t);
  if (next_array(*oldest) == nullptr) [[likely]] {
    // relaxed: a hint; a missed one is seen by the next write
    if (t.keeps_arrays.load(sync::relaxed) != 0) [[unlikely]]
      release_now_and_then(t);
    return;
  }
  const growth_policy growth = t.settings.growth;
  // relaxed: a stale word leaves a unit to the next write
  if (growth == growth_policy::background && t.unmanned.load(sync::relaxed) == 0) return;
  if (growth == growth_policy::cooperative) {
    help_move(t);
  } else {
    (void)move_units(t, *oldest, t.settings.move_bins / unit_lines + (t.settings.move_bins % unit_lines != 0 ? 1 : 0));
  }
  release_arrays(t);
}

} // namespace cubby::inline v0::engines::dramhit_tuples
