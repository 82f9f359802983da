// SPDX-License-Identifier: Apache-2.0
// When a table changes its size, and which threads do the work. The cases are growth beyond one entry a bucket, shrinks by policy, the
// share of each writer, and the calls that finish a resize.
#pragma once

#include <cubby/detail/engines/relativistic/resize.hpp>

namespace cubby::inline v0::detail::engines::relativistic {

/// During a wait for readers, one write in so many checks whether they have left, because the check reads all thread records.
inline constexpr std::uint64_t writers_a_look = 32;
/// How long a call waits for other threads in one resize, in microseconds of sleeps. Then writers and the worker go on.
inline constexpr std::uint64_t longest_wait = 1000000;

/// The share of a resize that a writer does before it returns. Never waits: at a family whose stripe another writer holds, the share
/// ends, and the next writer begins there.
template <class Policy> CUBBY_NEVER_INLINE void do_maintenance(table<Policy>& t) noexcept {
  if (t.settings.growth == growth_policy::background && t.worker.is_here()) return;
  // relaxed, both: a hint; `ticks` only limits how often this happens
  const bool waits = t.busy.load(sync::relaxed) == resize_state::readers_to_wait_for;
  if (waits && t.ticks.fetch_add(1, sync::relaxed) % writers_a_look != 0) return;
  if (!t.resize_lock.try_lock()) return;
  (void)work_on(t, t.settings.growth == growth_policy::cooperative ? ~std::uint64_t{0} : t.settings.move_bins);
  t.resize_lock.unlock();
}
template <class Policy> CUBBY_ALWAYS_INLINE void maintenance(table<Policy>& t) noexcept {
  // relaxed: a hint; the next writer sees it if this one does not
  if (t.busy.load(sync::relaxed) != resize_state::none) [[unlikely]]
    do_maintenance(t);
}

/// Begins a resize to `buckets`, unless one is in progress or another thread is about to begin one.
template <class Policy> void try_begin(table<Policy>& t, std::uint64_t buckets) noexcept {
  if (!t.resize_lock.try_lock()) return;
  // relaxed: under the lock
  const bool begun = t.work.at == stage::idle && buckets != t.buckets.load(sync::relaxed) && begin_resize(t, buckets);
  t.resize_lock.unlock();
  if (begun && t.settings.growth == growth_policy::background) t.worker.notify();
}

/// The smallest number of buckets for `live` entries that is at least one growth step larger than `now`.
inline std::uint64_t grown_size(const options& settings, std::uint64_t now, std::uint64_t live) noexcept {
  std::uint64_t size = now * (settings.growth_factor == 0 ? 2 : std::bit_ceil(settings.growth_factor));
  while (size < live && size < most_buckets) size *= 2;
  return size;
}

/// Called after an insert, with the `live` entries of its stripe. Once a stripe has its share of the entries, it counts the whole table
/// from time to time, and begins a growth if there is more than one entry a bucket.
template <class Policy> CUBBY_ALWAYS_INLINE void after_insert(table<Policy>& t, std::uint64_t live) noexcept {
  // relaxed: a recent figure
  const std::uint64_t now = t.buckets.load(sync::relaxed);
  const std::uint64_t share = now / stripe_count;
  if (live > share && live % (share / 16 + 1) == 0) [[unlikely]] {
    const bool may = t.settings.growth != growth_policy::fixed && now < most_buckets;
    // relaxed: a hint; a resize that has just ended is seen by a later insert
    if (may && t.busy.load(sync::relaxed) == resize_state::none) {
      const std::uint64_t all = live_entries(t);
      if (all > now) try_begin(t, grown_size(t.settings, now, all));
    }
  }
  maintenance(t);
}

/// The number of buckets that an automatic table with `all` entries in `now` buckets should have. At an eighth of an entry a bucket or
/// less, it is the size with a quarter to a half; so a twofold change either way is needed for the next resize.
template <class Policy>
std::uint64_t shrunk_size(const table<Policy>& t, std::uint64_t now, std::uint64_t all) noexcept {
  std::uint64_t least = buckets_for(all * 2);
  if (least < t.least_buckets) least = t.least_buckets;
  return all * 8 <= now && least < now ? least : now;
}

/// Called after an erase, with the `live` entries of its stripe. An automatic table begins to shrink if it is nearly empty.
template <class Policy> CUBBY_ALWAYS_INLINE void after_erase(table<Policy>& t, std::uint64_t live) noexcept {
  // relaxed: a recent figure
  const std::uint64_t now = t.buckets.load(sync::relaxed);
  const std::uint64_t share = now / stripe_count;
  if (t.settings.shrink == shrink_policy::automatic && now > t.least_buckets && live * 8 <= share &&
      live % (share / 64 + 1) == 0) [[unlikely]] {
    const std::uint64_t least = shrunk_size(t, now, live_entries(t));
    if (least < now) try_begin(t, least);
  }
  maintenance(t);
}

/// Finishes the resize that is in progress. Waits without the lock. False: the longest wait was over, or it would have had to wait for
/// readers inside a pin of the caller.
template <class Policy> bool finish_resize(table<Policy>& t, const thread_record& mine) noexcept {
  const bool inside = registry::inside(*t.home) || registry::inside(mine);
  for (rcu::reader_backoff wait;;) {
    progress how;
    {
      lock_scope hold(t.resize_lock);
      how = work_on(t, t.settings.chunk_bins);
    }
    if (how == progress::idle) return true;
    if (how == progress::more) {
      wait = rcu::reader_backoff();
      continue;
    }
    if ((inside && how == progress::blocked) || wait.slept() >= longest_wait) return false;
    wait.pause();
  }
}

/// Makes space for `entries` without further growth. False: no memory, or a `fixed` table would have to grow. True also if readers hold
/// up the growth, which then goes on when they have left, or a shrink; then the growth follows it if there is memory.
template <class Policy> bool reserve(table<Policy>& t, const thread_record& mine, std::uint64_t entries) noexcept {
  if (entries > t.bound) return false;
  const std::uint64_t buckets = buckets_for(entries);
  for (;;) {
    const bool ended = finish_resize(t, mine);
    lock_scope hold(t.resize_lock);
    const bool idle = t.work.at == stage::idle;
    // relaxed: under the lock
    const bool enough = (idle ? t.buckets.load(sync::relaxed) : t.work.to->mask + 1) >= buckets;
    if (idle && enough) return true;
    if (!enough && (t.settings.growth == growth_policy::fixed || buckets > most_buckets)) return false;
    if (t.wanted < buckets) t.wanted = buckets;
    if (idle && !begin_resize(t, buckets)) {
      t.wanted = 0;
      return false;
    }
    if (!ended) return true;
  }
}

/// Gives back space that the entries do not need, down to the user's capacity. False: no memory for a smaller array. True also if
/// readers hold up the shrink.
template <class Policy> bool shrink_to_fit(table<Policy>& t, const thread_record& mine) noexcept {
  for (std::uint64_t last = ~std::uint64_t{0};;) {
    if (!finish_resize(t, mine)) return true;
    lock_scope hold(t.resize_lock);
    // relaxed: under the lock
    const std::uint64_t now = t.buckets.load(sync::relaxed);
    if (t.work.at != stage::idle) continue;
    // Counted under the lock, so entries that have made the table grow since are included.
    std::uint64_t least = buckets_for(live_entries(t));
    if (least < t.least_buckets) least = t.least_buckets;
    if (now >= last || least >= now) return true;
    last = now;
    if (!begin_resize(t, least)) return false;
  }
}

/// Begins the resize that inserts or erases could not begin because another one was in progress. Under `resize_lock`, after the end of
/// that one. Without it no later write might begin the resize. It begins no shrink after a growth, because `reserve` may have asked
/// for the space, and no shrink below the buckets that `reserve` has `asked` for meanwhile.
template <class Policy>
bool begin_what_is_left(table<Policy>& t, bool has_shrunk, std::uint64_t asked) noexcept {
  // relaxed: under the lock
  const std::uint64_t now = t.buckets.load(sync::relaxed);
  const std::uint64_t all = live_entries(t);
  if (all > now) return now < most_buckets && begin_resize(t, grown_size(t.settings, now, all));
  if (!has_shrunk || t.settings.shrink != shrink_policy::automatic) return false;
  std::uint64_t least = shrunk_size(t, now, all);
  if (least < asked) least = asked;
  if (least >= now || !begin_resize(t, least)) return false;
  t.wanted = asked; // for the shrink after this one
  return true;
}

/// The work of the background thread when it is woken: the resize in progress, and those that it has kept from beginning.
template <class Policy> void background_work(void* argument) {
  auto& t = *static_cast<table<Policy>*>(argument);
  rcu::reader_backoff wait;
  while (t.closing.load(sync::relaxed) == 0) { // relaxed: only a request to stop early; the join orders everything
    progress how;
    {
      lock_scope hold(t.resize_lock);
      const bool shrinks = t.work.from != nullptr && t.work.to->mask < t.work.from->mask;
      const std::uint64_t asked = t.wanted; // the end of a resize forgets it
      how = work_on(t, t.settings.chunk_bins);
      if (how == progress::idle && begin_what_is_left(t, shrinks, asked)) how = progress::more;
    }
    if (how == progress::idle) return;
    if (how == progress::more) wait = rcu::reader_backoff();
    else wait.pause();
  }
}

} // namespace cubby::inline v0::detail::engines::relativistic
