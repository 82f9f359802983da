// SPDX-License-Identifier: Apache-2.0
// Arrays of tuples: how large, when the next one is needed, how one comes and goes. As in the dramhit room, with
// one difference: an array counts tuples that are settled, not units, because some are settled by their writers (T5).
#pragma once

#include <new>

#include <cubby/engine/dramhit_tuples/table.hpp>

namespace cubby::inline v0::engines::dramhit_tuples {

/// 2^46 bytes: more than there is memory for, and products of sizes below it do not wrap.
inline constexpr std::uint64_t most_lines = std::uint64_t{1} << 40;
/// No array is smaller, so that a few threads that overlook each other's inserts do not fill one up.
inline constexpr std::uint64_t fewest_tuples = 64;

/// An array with every tuple empty, or null when there is no memory. Pages arrive at first use, and are zero: empty.
template <class Policy, class Threads> array<Policy, Threads>* make_array(std::uint64_t lines) noexcept {
  if (lines > most_lines) return nullptr;
  auto* const made = new (std::nothrow) array<Policy, Threads>;
  if (made == nullptr) return nullptr;
  made->lines = lines;
  made->pages = memory::allocate(lines * cpu::cache_line);
  if (made->pages.address == nullptr) {
    delete made;
    return nullptr;
  }
  made->tuples = reinterpret_cast<tuple<Policy, Threads>*>(made->pages.address);
  return made;
}

/// Lines in which `entries` take three tuples of four, or a little less.
template <class Policy, class Threads> std::uint64_t lines_for(std::uint64_t entries) noexcept {
  constexpr std::uint64_t in_line = array<Policy, Threads>::in_line;
  if (entries / 3 > most_lines) return most_lines + 1;
  const std::uint64_t tuples = (entries / 3 + 1) * 4;
  return (tuples < fewest_tuples ? fewest_tuples : tuples) / in_line;
}

/// Small tables grow in larger steps: what they move soon moves again.
template <class Policy, class Threads>
std::uint64_t lines_grown(const array<Policy, Threads>& a, const options& chosen) noexcept {
  if (chosen.growth_factor >= 2) return a.lines * (chosen.growth_factor < 64 ? chosen.growth_factor : 64);
  return a.lines * (a.lines < 1024 ? 8 : a.lines < (std::uint64_t{1} << 16) ? 4 : 2);
}

/// Tuples of `a` that are in use or spoken for by what still has to move here.
template <class Policy, class Threads>
std::uint64_t used_tuples(const table<Policy, Threads>& t, const array<Policy, Threads>& a) noexcept {
  const std::int64_t used = t.claims.total() - a.base;
  return used < 0 ? 0 : static_cast<std::uint64_t>(used);
}

/// Live and dead together past this mark: time for the next array.
template <class Policy, class Threads>
bool is_crowded(const table<Policy, Threads>& t, const array<Policy, Threads>& a) noexcept {
  return used_tuples(t, a) > a.count() - a.count() / 5;
}
/// Users stay out of an array that is still being filled before what has to move there could miss a tuple.
template <class Policy, class Threads>
bool is_reserved_for_moves(const table<Policy, Threads>& t, const array<Policy, Threads>& a) noexcept {
  // relaxed: a stale 1 sends an insert one array further than it need be
  if (a.arriving.load(sync::relaxed) == 0) return false;
  const std::uint64_t margin = a.count() / 8 < 16 ? 16 : a.count() / 8;
  return used_tuples(t, a) + margin >= a.count();
}

/// What an insert takes in `a` has to move to every array behind it, so none of them may be short of room either.
template <class Policy, class Threads>
bool has_room_behind(const table<Policy, Threads>& t, const array<Policy, Threads>& a) noexcept {
  for (const auto* at = &a; at != nullptr; at = next_array(*at))
    if (is_reserved_for_moves(t, *at)) return false;
  return true;
}

/// Lines of the array after `a`: more when the live ones crowd it, as many when the dead ones do. 0: a `fixed` table is
/// full.
template <class Policy, class Threads>
std::uint64_t lines_after(const table<Policy, Threads>& t, const array<Policy, Threads>& a) noexcept {
  const std::uint64_t live = live_entries(t);
  const std::uint64_t used = used_tuples(t, a);
  if (t.settings.growth == growth_policy::fixed) return used >= live + a.count() / 16 + 1 ? a.lines : 0;
  return live < a.count() / 5 * 2 ? a.lines : lines_grown(a, t.settings);
}

template <class Policy, class Threads> bool is_complete(const array<Policy, Threads>& a) noexcept {
  // [tuples-done] acquire: pairs with [count-tuples]
  return next_array(a) != nullptr && a.done.load(sync::acquire) == a.count();
}

/// Frees retired arrays whose time has come, at most `slice` bytes in one call, so that no write waits for long; leaves it
/// to whoever is at it already.
template <class Policy, class Threads>
void release_arrays(table<Policy, Threads>& t, std::size_t slice = release_slice) noexcept {
  if (!t.retired.lock.try_lock()) return;
  t.retired.release(slice);
  if (t.retired.empty()) t.keeps_arrays.store(0, sync::relaxed); // relaxed: a hint, set and cleared under this lock
  t.retired.lock.unlock();
}
/// When nothing moves any more: whoever moved the last tuple could not free the array, which its own pin kept.
template <class Policy, class Threads>
CUBBY_NEVER_INLINE void release_now_and_then(table<Policy, Threads>& t) noexcept {
  // A look at all seats is a system call: one call in 64 makes it.
  // relaxed: rations, nothing else
  if (t.looks.fetch_add(1, sync::relaxed) % 64 == 0) release_arrays(t);
}

/// Lets the root step over every array that is complete, and retires those.
template <class Policy, class Threads> void advance_root(table<Policy, Threads>& t) noexcept {
  for (;;) {
    auto* const old = first_array(t);
    if (!is_complete(*old)) return;
    auto* expected = old;
    // [step-tuple-root] release: pairs with [tuple-root]
    // relaxed: somebody else stepped; the loop looks again
    if (!t.root.compare_exchange(expected, next_array(*old), sync::release, sync::relaxed)) continue;
    auto& now_first = *next_array(*old);
    now_first.arriving.store(0, sync::relaxed); // relaxed: see is_reserved_for_moves
    // The mover may have gone to sleep over the last tuples of the old array, which somebody else held.
    if (t.settings.growth == growth_policy::background && next_array(now_first) != nullptr) t.worker.notify();
    lock_scope hold(t.retired.lock);
    t.retired.add(*old);
    t.keeps_arrays.store(1, sync::relaxed); // relaxed: a hint to writes
  }
}

template <class Policy, class Threads>
void count_settled(table<Policy, Threads>& t, array<Policy, Threads>& a, std::uint64_t tuples) noexcept {
  if (tuples == 0) return;
  // [count-tuples] acq_rel: pairs with [tuples-done]; whoever completes has seen every mover's work
  (void)a.done.fetch_add(tuples, sync::acq_rel);
  advance_root(t);
}

/// Creates the successor of `a` with so many lines, unless it has one; null: no memory.
template <class Policy, class Threads>
array<Policy, Threads>* make_next(table<Policy, Threads>& t, array<Policy, Threads>& a, std::uint64_t lines) noexcept {
  lock_scope hold(t.grow_lock);
  if (auto* const there = next_array(a)) return there;
  // Others may have inserted since the caller took the measure for a smaller one.
  if (const std::uint64_t needed = lines_for<Policy, Threads>(live_entries(t)); lines < a.lines && lines < needed)
    lines = needed;
  auto* const made = make_array<Policy, Threads>(lines);
  if (made == nullptr) return nullptr;
  made->base = t.erases.total();          // all claims so far, less those that are still live
  made->arriving.store(1, sync::relaxed); // relaxed: [publish-tuple-array] publishes it
  auto& kind = lines > a.lines ? t.growths : lines < a.lines ? t.shrinks : t.rebuilds;
  (void)kind.fetch_add(1, sync::relaxed); // relaxed: a statistic
  // [publish-tuple-array] release: pairs with [tuple-array]
  a.next.store(made, sync::release);
  if (t.settings.growth == growth_policy::background) t.worker.notify();
  return made;
}

} // namespace cubby::inline v0::engines::dramhit_tuples
