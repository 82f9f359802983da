// SPDX-License-Identifier: Apache-2.0
// When a table doubles or halves, and which threads do the work: growth at `grow_at` per cent, shrinks by policy, the share of each
// write, and the calls that finish a move.
#pragma once

#include <algorithm>

#include <cubby/detail/engines/iceberg/move.hpp>
#include <cubby/detail/engines/iceberg/prepare.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// What `done` counts to. A growth counts units as well, because they also have shares of the chains.
template <class Policy> std::uint64_t all_parts(const table<Policy>& t, root_word r) noexcept {
  return front_pairs(t, r.level()) * (r.shrinking() ? 1 : 2) + back_pairs(t, r.level());
}

/// Ends a move of which all parts are done.
template <class Policy> CUBBY_NEVER_INLINE void end_move(table<Policy>& t, root_word r) noexcept {
  {
    lock_scope alone(t.resize_lock);
    if (!is_same_root(t, r)) return;
    const unsigned level = r.shrinking() ? r.level() - 1 : r.level();
    if (!waits_for_sync(t))
      keep_level(t, level, pool_layout::move_state::none); // else when the move is settled (settle.hpp)
    // [show-level] seq_cst: pairs with [iceberg-root]
    t.root.store(r.next(level, 0).bits, sync::seq_cst);
    if (r.shrinking()) {
      if constexpr (durable<Policy>) give_back_at_end(t, segment_at(t, r.level()));
      lock_scope keep(t.retired.lock);
      t.retired.add(segment_at(t, r.level()));
    } else {
      t.duty.store(1, sync::relaxed); // relaxed: a hint
    }
  }
  if (t.settings.growth == growth_policy::background) (void)t.worker.notify();
  if constexpr (durable<Policy>) (void)t.unsettled.worker.notify();
}

/// Counts pairs that the caller has split or merged, and ends the move with the last one.
template <class Policy> void count_moved(table<Policy>& t, root_word r, std::uint64_t pairs) noexcept {
  if (pairs == 0) return;
  // [count-pairs] acq_rel: pairs with [count-pairs]; the last one has seen what all others did
  const std::uint64_t before = t.work.done.fetch_add(pairs, sync::acq_rel);
  if (before + pairs == all_parts(t, r)) end_move(t, r);
}

/// The units of a move. A growth splits all front buckets first: after that the entries behind them find space there.
template <class Policy> std::uint64_t units_of(const table<Policy>& t, root_word r) noexcept {
  return front_pairs(t, r.level()) * (r.shrinking() ? 1 : 2);
}
/// Splits or merges the pairs of one unit. Returns how many parts were not done before; `missed`: one was left for want of memory.
template <class Policy>
std::uint64_t move_unit(table<Policy>& t, const thread_record& who, root_word r, std::uint64_t unit,
                        bool& missed) noexcept {
  const std::uint64_t fronts = front_pairs(t, r.level());
  const bool behind = unit >= fronts;
  if (behind) unit -= fronts;
  const std::uint64_t copy = unit / t.fronts;
  const std::uint64_t residue = unit % t.fronts;
  const pair_position p{residue, copy, r.level()};
  std::uint64_t count = 0;
  const auto note = [&](moved how) {
    count += how == moved::now ? 1 : 0;
    missed = missed || how == moved::no_memory;
  };
  if (r.shrinking()) {
    note(merge_front(t, r, p));
    if (residue < t.backs) note(merge_back(t, r, p)); // there are no more back buckets than front buckets
    return count;
  }
  const auto& made = segment_at(t, r.level());
  if (!behind) {
    touch_behind<Policy>(made, front_at(t, residue, p.upper()).slots, front_slots<slot_of<Policy>>);
    return split_front(t, r, p) ? 1 : 0;
  }
  if (residue < t.backs) touch_behind<Policy>(made, back_at(t, residue, p.upper()).slots, back_slots);
  for_each_chain_array(t, [&](const chain_array& in) {
    if (!has_entries(in)) return;
    for (std::uint64_t c = unit; c < in.count; c += fronts) empty_chain(t, who, in.heads[c]);
  });
  return residue < t.backs && split_back(t, p) ? 2 : 1;
}

/// What a share of a move has come to. `ended`: no unit was left to take.
enum class share : std::uint8_t { idle, more, ended, no_memory };

/// Takes at most so many units, and moves them. The caller has a guard.
template <class Policy> share move_share(table<Policy>& t, const thread_record& who, std::uint64_t at_most) noexcept {
  const root_word r = first_root(t);
  if (!r.moving()) return share::idle;
  const std::uint64_t units = units_of(t, r);
  if (at_most > units) at_most = units;
  // [take-unit] acquire: pairs with [begin-units]
  std::uint64_t seen = t.work.cursor.load(sync::acquire);
  std::uint64_t begin = 0;
  do {
    begin = seen - first_unit(r); // of another move: far too large
    if (begin >= units) {
      // relaxed, all: hints. The units of a shrink are taken once more if a pair was missed; pairs know whether they are done.
      if (r.shrinking() && begin < 2 * units && t.work.missed.exchange(0, sync::relaxed) != 0 &&
          !t.work.cursor.compare_exchange(seen, first_unit(r), sync::relaxed, sync::relaxed))
        t.work.missed.store(1, sync::relaxed); // relaxed: as above
      return share::ended;
    }
    // [take-unit] acquire: pairs with [begin-units]
  } while (!t.work.cursor.compare_exchange(seen, seen + at_most, sync::acquire, sync::acquire));
  std::uint64_t count = 0;
  bool missed = false;
  for (std::uint64_t unit = begin; unit < units && unit - begin < at_most; ++unit)
    count += move_unit(t, who, r, unit, missed);
  if (missed) t.work.missed.store(1, sync::relaxed); // relaxed: as above
  count_moved(t, r, count);
  return missed ? share::no_memory : share::more;
}

template <class Policy>
typename table<Policy>::segment_type* new_segment(table<Policy>& t, unsigned level, std::uint64_t fronts,
                                                  std::uint64_t backs) noexcept {
  if constexpr (durable<Policy>) return make_durable_segment(t, level, fronts, backs);
  else return make_segment<slot_of<Policy>>(fronts, backs);
}

/// Hangs up the segment of a growth to `level`, with chains for it. Under `resize_lock`. False: no memory.
template <class Policy> bool hang_next_segment(table<Policy>& t, unsigned level) noexcept {
  auto* made = take_next(t);
  if (made == nullptr) made = new_segment(t, level, front_pairs(t, level), back_pairs(t, level));
  if (made == nullptr) {
    t.refused.store(1, sync::relaxed); // relaxed: a hint to inserts that meet long chains
    return false;
  }
  // [hang-segment] release: pairs with [segment]
  t.segments[level].store(made, sync::release);
  add_chains_for_growth(t, level);
  return true;
}

/// Begins a move to `level`, one more or one less. False: another one is in progress, or there is no memory.
template <class Policy> bool begin_move(table<Policy>& t, root_word r, bool shrink) noexcept {
  lock_scope alone(t.resize_lock);
  if (!is_same_root(t, r) || r.moving()) return false;
  if constexpr (durable<Policy>) {
    if (t.unsettled.since.load(sync::relaxed) != 0) return false; // relaxed: under the lock
  }
  const unsigned level = r.level() + (shrink ? 0 : 1);
  if (shrink) retire_next(t);
  else if (!hang_next_segment(t, level)) return false;
  if constexpr (durable<Policy>) {
    // relaxed: under the lock; changes of entries that were copied come after it
    if (waits_for_sync(t)) t.unsettled.since.store(r.level() + 1, sync::relaxed);
  }
  // relaxed, all: nobody counts while no move is in progress
  t.work.done.store(0, sync::relaxed);
  t.work.missed.store(0, sync::relaxed); // relaxed: as above
  if (shrink) keep_level(t, level - 1, pool_layout::move_state::shrinks);
  else keep_level(t, level, pool_layout::move_state::grows);
  const std::uint64_t marks = root_word::moving_bit | (shrink ? root_word::shrinking_bit : 0);
  const root_word next = r.next(level, marks);
  // [show-level] seq_cst: pairs with [iceberg-root]
  t.root.store(next.bits, sync::seq_cst);
  // [begin-units] release: pairs with [take-unit]; until then the cursor is of another move
  t.work.cursor.store(first_unit(next), sync::release);
  // [end-refusal] release: pairs with [see-refusal]; behind the root
  if (!shrink) t.refused.store(0, sync::release);
  (shrink ? t.shrinks : t.growths).fetch_add(1, sync::relaxed); // relaxed: a figure
  t.duty.store(1, sync::relaxed);                               // relaxed: a hint to writes
  return true;
}
template <class Policy> bool settle(table<Policy>& t, const thread_record& who) noexcept;
template <class Policy> CUBBY_NEVER_INLINE bool start(table<Policy>& t, const thread_record& who, root_word r,
                                                      bool shrink) noexcept {
  if (!settle(t, who)) return false;
  const bool begun = begin_move(t, r, shrink);
  if (begun && t.settings.growth == growth_policy::background) (void)t.worker.notify();
  return begun;
}

/// The entries at which a table of `level` doublings grows.
template <class Policy> std::uint64_t mark_of(const table<Policy>& t, unsigned level) noexcept {
  return slots_at(t, level) / 100 * t.settings.grow_at + slots_at(t, level) % 100 * t.settings.grow_at / 100;
}

/// Makes the segment of the next growth, if inserts shall touch its pages first. False: they need not, or there is no memory.
template <class Policy> CUBBY_NEVER_INLINE bool prepare(table<Policy>& t, root_word r) noexcept {
  if (!prepares(t)) return false;
  t.duty.store(
      1,
      sync::relaxed); // relaxed: a hint to writes, given again in case one that ended its duty has just overwritten it
  lock_scope alone(t.resize_lock);
  if (!is_same_root(t, r) || t.next.made.load(sync::relaxed) != nullptr) return true; // relaxed: under the lock
  const unsigned level = r.level() + 1;
  auto* const made = new_segment(t, level, front_pairs(t, level), back_pairs(t, level));
  if (made == nullptr) return false;
  t.next.cursor.store(0, sync::relaxed); // relaxed: the next store shows it
  // [show-pages] release: pairs with [touch-page]
  t.next.made.store(made, sync::release);
  if (made->pages.bytes <= memory::huge_page) return false;
  if (t.settings.growth == growth_policy::background) (void)t.worker.notify();
  return true;
}

/// Touches the next page, or begins the growth for which all are touched, unless erases have made it needless by now.
template <class Policy> void go_on_preparing(table<Policy>& t, const thread_record& who) noexcept {
  if (touch_next_page(t)) return;
  const root_word r = first_root(t);
  if (live_entries(t) >= mark_of(t, r.level())) (void)start(t, who, r, false);
}

template <class Policy> CUBBY_NEVER_INLINE void do_maintenance(table<Policy>& t, const thread_record& who) noexcept {
  const bool worker = t.settings.growth == growth_policy::background && t.worker.is_here();
  if (!worker) {
    const bool whole = t.settings.growth == growth_policy::cooperative;
    while (move_share(t, who, whole ? t.settings.chunk_bins : t.settings.move_bins) == share::more && whole) {
    }
  }
  // relaxed: it only limits how often this happens
  const std::uint64_t look = t.looks.fetch_add(1, sync::relaxed);
  if (look % writes_a_page<Policy> == 0) go_on_preparing(t, who);
  // Reading all thread records takes a system call, so only one call in 64 does it.
  if (look % 64 != 0 || !t.retired.lock.try_lock()) return;
  t.retired.release(release_slice);
  // relaxed: a hint
  if (t.retired.empty() && !first_root(t).moving() && t.next.made.load(sync::relaxed) == nullptr)
    t.duty.store(0, sync::relaxed); // relaxed: a hint; begin_move sets it again
  t.retired.lock.unlock();
}
/// The further work of a write.
template <class Policy> CUBBY_ALWAYS_INLINE void maintenance(table<Policy>& t, const thread_record& who) noexcept {
  // relaxed: a hint; the next write sees it if this one does not
  if (t.duty.load(sync::relaxed) != 0) [[unlikely]]
    do_maintenance(t, who);
}

/// How long an insert waits for a move that is late: 64 short pauses, then 16 yields. 60 fills of 200,000 keys by two threads on two
/// processors took 0.03 s each; without a wait, 6 of them took from 3 to 50 s.
inline constexpr unsigned most_pauses = 80;
/// How many pairs it moves then, unless growth is `cooperative`. One insert that moved all that was left took 1.2 s in a table of 10 M entries.
inline constexpr std::uint64_t late_pairs = 32;
/// The larger table is full as well before all entries have moved. Moves a share of what no thread has taken. If there is none, it gives the
/// others some time: the next growth cannot begin before they end, and chains would become longer faster than one thread can empty them.
template <class Policy> CUBBY_NEVER_INLINE void catch_up(table<Policy>& t, const thread_record& who) noexcept {
  const bool whole = t.settings.growth == growth_policy::cooperative;
  sync::backoff wait;
  for (unsigned left = most_pauses; left != 0;) {
    switch (move_share(t, who, whole ? t.settings.chunk_bins : late_pairs)) {
    case share::more:
      if (!whole) return;
      break;
    case share::ended:
      wait.pause();
      --left;
      break;
    case share::idle:
    case share::no_memory: return;
    }
  }
}

/// How often a write that has filled the last slots of its bucket counts the entries: always in small tables, else one in 64.
inline constexpr std::uint64_t sample = 63;
template <class Policy> CUBBY_NEVER_INLINE void look_at_load(table<Policy>& t, const thread_record& who,
                                                             std::uint64_t hash) noexcept {
  const root_word r = first_root(t);
  const std::uint64_t slots = slots_at(t, r.level());
  if (slots > 4096 && (hash >> 20 & sample) != 0) return;
  if (t.settings.growth == growth_policy::fixed) return;
  const std::uint64_t live = live_entries(t);
  const std::uint64_t mark = mark_of(t, r.level());
  if (live < mark) return;
  // Behind a later mark the growth begins at once: the threads that touch pages are late.
  const bool late = live > (std::min)(mark + slots / 32, slots / 100 * 98);
  if (!r.moving() && r.level() != most_levels && (late || !prepare(t, r))) (void)start(t, who, r, false);
  if (r.moving() && !r.shrinking()) catch_up(t, who);
}
/// After an insert that had no memory while the root was `seen`. True: it may try again, because a growth has begun since.
template <class Policy>
CUBBY_NEVER_INLINE bool grow_after_refusal(table<Policy>& t, const thread_record& who, root_word seen) noexcept {
  // [see-refusal] acquire: pairs with [end-refusal]; behind it the root of the growth is seen
  const bool refused = t.refused.load(sync::acquire) != 0;
  if (!is_same_root(t, seen)) return true;
  if (!refused || seen.moving() || seen.level() == most_levels) return false;
  return start(t, who, seen, false) || !is_same_root(t, seen);
}
/// After an insert into a bucket whose `free` slots are left.
template <class Policy>
CUBBY_ALWAYS_INLINE void after_insert(table<Policy>& t, const thread_record& who, std::uint64_t hash,
                                      std::uint64_t free) noexcept {
  if ((free & (free - 1)) == 0) [[unlikely]] // at most one
    look_at_load(t, who, hash);
  maintenance(t, who);
}

/// After an erase. An automatic table begins to shrink if an eighth of its slots is in use.
template <class Policy> CUBBY_ALWAYS_INLINE void after_erase(table<Policy>& t, const thread_record& who,
                                                             std::uint64_t hash) noexcept {
  if (t.settings.shrink == shrink_policy::automatic && (hash >> 20 & 15) == 0) [[unlikely]] {
    const root_word r = first_root(t);
    if (!r.moving() && r.level() != 0 && live_entries(t) * 8 <= slots_at(t, r.level())) (void)start(t, who, r, true);
  }
  maintenance(t, who);
}

/// Finishes the move in progress. Waits for threads that move their last units. False: no memory.
template <class Policy> bool finish_move(table<Policy>& t, const thread_record& who) noexcept {
  for (sync::backoff wait;;) {
    switch (move_share(t, who, t.settings.chunk_bins)) {
    case share::idle: return true;
    case share::no_memory: return false;
    case share::ended: wait.pause(); break;
    case share::more: wait = sync::backoff(); break;
    }
  }
}

/// Whether memory could hold a table with space for so many entries, and its file could. Not the disk, which says so itself.
template <class Policy> bool could_hold(const table<Policy>& t, std::uint64_t entries) noexcept {
  if (entries > most_capacity) return false;
  unsigned level = 0;
  while (level <= most_levels && entries > mark_of(t, level)) ++level;
  const std::uint64_t fronts = t.fronts << level;
  const std::uint64_t backs = t.backs << level;
  const std::uint64_t slots = slot_bytes<slot_of<Policy>>(fronts, backs);
  const std::uint64_t lines = fronts * sizeof(front_line) + backs * sizeof(back_line);
  if constexpr (durable<Policy>)
    return level <= most_levels && slots <= t.policy.home().most_bytes() && memory::can_hold(lines);
  else return level <= most_levels && memory::can_hold(slots + lines);
}

/// Makes space for so many entries, and for those that are there. False: no memory, or the bound of a `fixed` table.
template <class Policy> bool reserve(table<Policy>& t, const thread_record& who, std::uint64_t entries) noexcept {
  for (;;) {
    if (!finish_move(t, who)) return false;
    const root_word r = first_root(t);
    if (t.settings.growth == growth_policy::fixed) return entries <= t.settings.capacity;
    if (entries <= mark_of(t, r.level()) && live_entries(t) <= mark_of(t, r.level())) return true;
    if (r.level() == most_levels || !could_hold(t, entries)) return false;
    if (!settle(t, who)) return false;
    if (!r.moving() && !begin_move(t, r, false) && is_same_root(t, r)) return false;
  }
}

/// Gives back the segments that the entries do not need, down to the first one. False: no memory.
template <class Policy> bool shrink_to_fit(table<Policy>& t, const thread_record& who) noexcept {
  drop_next(t);
  for (;;) {
    if (!finish_move(t, who)) return false;
    const root_word r = first_root(t);
    if (r.moving()) continue;
    if (r.level() == 0 || live_entries(t) > mark_of(t, r.level() - 1)) return true;
    if (!settle(t, who)) return false;
    if (!begin_move(t, r, true) && is_same_root(t, r)) return false;
  }
}

/// The work of the table's own thread when it is woken.
template <class Policy> void background_work(void* of) {
  auto& t = *static_cast<table<Policy>*>(of);
  thread_record* const mine = registry::local(*t.home);
  if (mine == nullptr) return;                                          // the next notice tries again
  for (bool more = true; more && t.closing.load(sync::relaxed) == 0;) { // relaxed: only a request to stop early
    const thread_pin stay(*mine);
    // relaxed, all: `touch_next_page` reads them again
    if (const auto* const made = t.next.made.load(sync::relaxed);
        made != nullptr && t.next.cursor.load(sync::relaxed) <= pages_of(*made)) {
      go_on_preparing(t, *mine);
      continue;
    }
    more = move_share(t, *mine, t.settings.chunk_bins) == share::more;
  }
  lock_scope keep(t.retired.lock);
  t.retired.release(release_slice);
}

} // namespace cubby::inline v0::detail::engines::iceberg
