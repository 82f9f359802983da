// SPDX-License-Identifier: Apache-2.0
// When a table changes its size, and what a verb does about it on its way. The cases are an insert that finds no space,
// shrinking by policy, and the sizes that a user asks for.
#pragma once

#include <cubby/detail/engines/dlht/resize.hpp>

namespace cubby::inline v0::detail::engines::dlht {

/// A crowded bin makes a table no larger than so many times what its entries need, or the user has asked for.
inline constexpr std::uint64_t most_times_for_crowds = 4;

/// For a sixteenth entry of a bin: doubles the table, as far as it may grow, so that the bin's entries are divided. `crowded`:
/// no larger table is allowed, or none would help because this one is nearly empty.
template <class Threads>
insert_outcome plan_for_crowd(const index<Threads>& at, std::uint64_t live, std::uint64_t& bins) noexcept {
  const std::uint64_t by_load = bins_for(live);
  const std::uint64_t by_user = at.asked_bins.load(sync::relaxed); // relaxed: a recent figure
  const std::uint64_t asked = by_user > by_load ? by_user : by_load;
  bins = at.bin_count * 2;
  const bool is_nearly_empty = at.bin_count > 64 && live < at.bin_count / 16;
  if (is_nearly_empty || bins > asked * most_times_for_crowds) return insert_outcome::crowded;
  return insert_outcome::inserted;
}

/// What to do if there is no space under header `h`. `inserted` means a successor of `bins` bins, for the reason `why`.
template <class Policy, class Threads>
insert_outcome plan_growth(const table<Policy, Threads>& t, const index<Threads>& at, std::uint64_t h,
                           std::uint64_t& bins, occasion& why) noexcept {
  const std::uint64_t live = live_entries(t);
  // An insert whose bin has moved gives its slot up. So a move to the same size helps a bin whose slots are only being
  // filled.
  if (header::invalid(h) == 0 && header::present(h) != header::every_slot) {
    bins = at.bin_count;
    return insert_outcome::inserted;
  }
  if (header::invalid(h) == 0) {
    why = occasion::crowd;
    return plan_for_crowd(at, live, bins);
  }
  if (t.settings.growth != growth_policy::fixed && is_loaded(at, live)) {
    bins = at.bin_count * growth_factor(at.bin_count, t.settings);
    return insert_outcome::inserted;
  }
  // Bins never give a link bucket back, so churn uses them up; moving to the same size finds those that are not needed.
  if (links_are_waste(at, live)) {
    bins = at.bin_count;
    return insert_outcome::inserted;
  }
  why = occasion::crowd; // entries crowd in few bins
  return plan_for_crowd(at, live, bins);
}

/// An insert found no space for `probe` in `at`: creates the successor if need be and moves the probe's unit there.
/// `inserted`: look again. The caller of `cooperative` growth goes on moving until nothing is left to take.
template <class Policy, class Threads>
CUBBY_NEVER_INLINE insert_outcome make_space(table<Policy, Threads>& t, index<Threads>& at, const word_probe& probe,
                                             std::uint64_t h) noexcept {
  index<Threads>* next = next_index(at);
  if (next == nullptr) {
    std::uint64_t bins = 0;
    occasion why = occasion::load;
    insert_outcome planned = plan_growth(t, at, h, bins, why);
    // If no thread stands still inside a rebuild, it ends before another one begins. In a `fixed` table all moves are
    // rebuilds.
    const bool is_rebuild = bins == at.bin_count || t.settings.growth == growth_policy::fixed;
    if (is_rebuild && &at != first_index(t)) {
      move_rest(t);
      why = occasion::load;
      planned = plan_growth(t, at, h, bins, why);
    }
    if (planned != insert_outcome::inserted) return planned;
    next = make_next(t, at, bins, why);
    if (next == nullptr) return insert_outcome::no_memory;
  }
  const std::uint64_t units = unit_count(at.bin_count, next->bin_count);
  const std::uint64_t number = bin_number<Policy>(at, probe);
  const move_result result = move_unit(t, at, unit_of_bin<Policy::mapping>(at.bin_count, units, number));
  if (result == move_result::no_memory) return insert_outcome::no_memory;
  if (result == move_result::moved) count_done(t, at, 1);
  if (t.settings.growth == growth_policy::cooperative) move_rest(t);
  return insert_outcome::inserted;
}

/// Entries a bin below which an automatic table halves. It doubles or quadruples near 3.4 (docs/performance/growth.md), so
/// after a halving it takes a fourfold change either way to move again.
inline constexpr double low_mark = 0.4;

/// Begins to halve a table that erases have left nearly empty; looks only now and then.
template <class Policy, class Threads>
CUBBY_NEVER_INLINE void shrink_if_empty(table<Policy, Threads>& t) noexcept {
  index<Threads>& at = *first_index(t);
  // relaxed: an index is never frozen after it was published as not
  if (at.frozen.load(sync::relaxed) != 0) return; // its bins could not be claimed; see `snapshot`
  const std::uint64_t every = at.bin_count < 1024 ? 16 : 1024;
  // relaxed: rations, nothing else
  if (t.ticks.fetch_add(1, sync::relaxed) % every != 0) return;
  const bool divisible = at.bin_count % 2 == 0 && at.bin_count / 2 >= t.least_extent;
  if (!divisible || next_index(at) != nullptr) return;
  const std::uint64_t live = live_entries(t);
  if (static_cast<double>(live) >= low_mark * static_cast<double>(at.bin_count)) return;
  if (at.crowd_entries != 0 && live > at.crowd_entries / 2) return; // the crowded bin would double the table again
  (void)make_next(t, at, at.bin_count / 2);                         // without memory the table stays as it is
}

/// The user has asked for `bins` bins of `at`, which has them already, perhaps because of a crowded bin. Each successor gets the
/// figure, too: it may have been made since the caller looked, with the older one. A smaller successor notes its own size.
template <class Policy, class Threads>
void note_asked(table<Policy, Threads>& t, index<Threads>& at, std::uint64_t bins) noexcept {
  lock_scope hold(t.grow_lock);
  for (index<Threads>* one = &at; one != nullptr; one = next_index(*one)) {
    if (bins > one->bin_count) bins = one->bin_count;
    // relaxed, both: under the lock
    if (one->asked_bins.load(sync::relaxed) < bins) one->asked_bins.store(bins, sync::relaxed);
  }
}

/// The further work of an erase, after it has taken an entry out.
template <class Policy, class Threads>
CUBBY_NEVER_INLINE void do_maintenance_of_erase(table<Policy, Threads>& t, thread_record& who) noexcept {
  if (t.places.is_bounded()) t.places.give(who.id());
  maintenance(t);
  if (t.settings.shrink == shrink_policy::automatic) shrink_if_empty(t);
}
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE void maintenance_of_erase(table<Policy, Threads>& t, thread_record& who) noexcept {
  // relaxed: constants, and a hint
  if (t.maintenance.load(sync::relaxed) != 0) [[unlikely]]
    do_maintenance_of_erase(t, who);
}

/// Space for `wanted` entries without further growth; false: no memory, or a `fixed` table would have to grow.
template <class Policy, class Threads> bool reserve(table<Policy, Threads>& t, std::uint64_t wanted) noexcept {
  lock_scope alone(t.shape_lock);
  if (t.settings.growth == growth_policy::fixed && wanted > t.settings.capacity) return false;
  const std::uint64_t bins = bins_for(wanted);
  for (;;) {
    if (!finish_moves(t)) return false;
    index<Threads>* const own = own_first_index(t, bins);
    if (own == nullptr) return false;
    index<Threads>& at = *own;
    if (bins <= at.bin_count) {
      note_asked(t, at, bins);
      return true;
    }
    if (t.settings.growth == growth_policy::fixed || bins > most_bins) return false;
    std::uint64_t factor = (bins + at.bin_count - 1) / at.bin_count;
    if (Policy::mapping == bin_mapping::modulo) factor = std::bit_ceil(factor); // scan.hpp, `share`, counts on it
    // What another thread has just made may be smaller. Then the loop looks again.
    if (make_next(t, at, at.bin_count * factor) == nullptr) return false;
  }
}

/// Halves the table as long as its entries fit and it keeps the capacity that was asked for; false: no memory. Ends when a smaller
/// index could not take the entries after all (move_unit then went on to a larger one).
template <class Policy, class Threads> bool shrink_to_fit(table<Policy, Threads>& t) noexcept {
  lock_scope alone(t.shape_lock);
  for (std::uint64_t last = ~std::uint64_t{0};;) {
    if (!finish_moves(t)) return false;
    index<Threads>& at = *first_index(t);
    if (at.bin_count >= last) return true;
    last = at.bin_count;
    std::uint64_t least = bins_for(live_entries(t));
    if (least < t.least_extent) least = t.least_extent;
    std::uint64_t factor = 1;
    while (factor < most_sources && at.bin_count % (factor * 2) == 0 && at.bin_count / (factor * 2) >= least) {
      factor *= 2;
    }
    if (factor == 1) return true;
    if (make_next(t, at, at.bin_count / factor) == nullptr) return false;
  }
}

/// Gives an insert a place in a `fixed` table; false: there is none, and the key was absent under header `h` when the last
/// place was taken.
template <class Policy, class Threads>
CUBBY_NEVER_INLINE attempt find_place(table<Policy, Threads>& t, const thread_record& who, new_entry<Threads>& a,
                                      std::uint64_t h) noexcept {
  a.placed = t.places.take(who.id());
  if (a.placed) return attempt::again;
  // Linearization point of a refusal: the moment at which every place was taken, under an unchanged header.
  // [probe] acquire: pairs with [commit]
  return a.b->head.load(sync::acquire) == h ? attempt::no_place : attempt::again;
}

/// Ends the insert without an entry, and gives back the place that it may have.
template <class Policy, class Threads>
inserted_word give_up(table<Policy, Threads>& t, const thread_record& who, const new_entry<Threads>& a,
                      inserted_word out) noexcept {
  out.shown = a.shown;
  if (a.placed && t.places.is_bounded()) t.places.give(who.id());
  return out;
}

/// What an insert does if its bin has no space or the table no place, after it has waited as `wait` says. `again`: it looks
/// again. `wait`: it looks again after a pause. `ended`: `why` is the reason.
template <class Policy, class Threads>
CUBBY_NEVER_INLINE attempt help(table<Policy, Threads>& t, const thread_record& who, const word_probe& probe,
                                new_entry<Threads>& a, std::uint64_t h, attempt how, insert_outcome& why,
                                const sync::backoff& wait) noexcept {
  if (how == attempt::no_place) {
    why = insert_outcome::full;
    return find_place(t, who, a, h) == attempt::again ? attempt::again : attempt::ended;
  }
  if (a.at->is_of_empty_tables()) {
    index<Threads>* const own = own_first_index(t, least_bins);
    why = insert_outcome::no_memory;
    if (own != nullptr) a.at = own;
    return own != nullptr ? attempt::again : attempt::ended;
  }
  // Slots that other inserts are filling may come free: an insert of the same key that was slower gives its slot back. One
  // that stands still does not, so no thread waits for long.
  const bool may_wait = (header::present(h) | header::invalid(h)) != header::every_slot && !wait.has_been_long();
  if (may_wait && header::invalid(h) == 0 && next_index(*a.at) == nullptr) return attempt::wait;
  why = make_space(t, *a.at, probe, h);
  if (why == insert_outcome::inserted) return attempt::again;
  return why == insert_outcome::crowded && may_wait ? attempt::wait : attempt::ended;
}

/// Inserts `value` under the probe's key, as `final`, unless the key is there (or hidden in a shadow slot). The caller
/// keeps `value` unless it was inserted. Waits for a bin in transfer, and in inline tables for an insert of the same key
/// that is decided but not yet shown; otherwise lock-free. May do a share of a migration's work.
template <class Policy, class Threads, class Probe>
inserted_word insert(table<Policy, Threads>& t, thread_record& who, const Probe& probe, std::uint64_t value,
                     std::uint64_t final = slot_state::valid) {
  new_entry<Threads> a{first_index(t), nullptr, stored_word(probe.word), value, final, !t.places.is_bounded()};
  sync::backoff wait;
  for (inserted_word out;;) {
    a.b = &bin_of<Policy>(*a.at, probe);
    // [probe] acquire: pairs with [commit]
    const std::uint64_t h = a.b->head.load(sync::acquire);
    if (header::state_of(h) != bin_state::no_transfer) [[unlikely]] {
      pass_on(a.at, *a.b, h);
      continue;
    }
    attempt how = insert_here(t.policy, probe, a, h, out);
    if (how == attempt::ended) [[likely]] {
      if (out.outcome != insert_outcome::inserted) return give_up(t, who, a, out);
      out.shown = a.shown;
      if (final == slot_state::valid) count_entries(t, who, 1);
      maintenance(t);
      return out;
    }
    if (how == attempt::no_space || how == attempt::no_place) {
      how = help(t, who, probe, a, h, how, out.outcome, wait);
      if (how == attempt::ended) return give_up(t, who, a, out);
    }
    if (how == attempt::wait) wait.pause();
  }
}

/// The rest of `insert_word`.
template <class Policy, class Threads>
CUBBY_OUTLINED inserted_word insert_further(table<Policy, Threads>& t, thread_record& who, std::uint64_t hash,
                                            std::uint64_t word, std::uint64_t value) noexcept {
  return insert(t, who, word_probe{hash, word}, value);
}

/// An insert whose slot was filled, and whose bin changed before it was valid: commits it later, or begins again.
template <class Policy, class Threads>
CUBBY_NEVER_INLINE inserted_word commit_further(table<Policy, Threads>& t, thread_record& who, std::uint64_t hash,
                                                new_entry<Threads> a, slot<Threads>& s, std::uint64_t h) noexcept {
  const word_probe probe{hash, a.word};
  if (commit_contended(t.policy, probe, a, s, static_cast<unsigned>(&s - a.b->slots), h) == attempt::again)
    return insert(t, who, probe, a.value);
  count_entries(t, who, 1);
  return {.word = a.value};
}

/// The insert of inline tables, of an absent key into a free slot of its bin's first line, while the table asks for nothing else.
template <class Policy, class Threads>
CUBBY_ALWAYS_INLINE inserted_word insert_word(table<Policy, Threads>& t, thread_record& who, std::uint64_t hash,
                                              std::uint64_t word, std::uint64_t value) noexcept {
  // relaxed: constants, and a hint; a missed one is seen by the next insert
  if ((t.maintenance.load(sync::relaxed) & (generations::write_duty::move_or_free | write_duty::count_places)) == 0 &&
      !is_reserved(word)) [[likely]] {
    index<Threads>& at = *first_index(t);
    bin<Threads>& b = at.bins[map_hash<Policy::mapping>(hash, at.bin_count)];
    // [probe] acquire: pairs with [commit]
    std::uint64_t h = b.head.load(sync::acquire);
    const auto to = header::is_plain(h) ? free_slot_for(b, h, word) : first_line_slot<Threads>();
    if (to.where != nullptr) [[likely]] {
      // [reserve] acq_rel: pairs with [probe]; from here on the slot's words are ours
      // relaxed: on failure insert_further looks again
      if (b.head.compare_exchange(h, to.filling, sync::acq_rel, sync::relaxed)) [[likely]] {
        slot<Threads>& s = *to.where;
        // [fill-value] release: pairs with [value]
        s.second.store(word, sync::release);
        // [fill] release: pairs with [key]
        s.first.store(pending, sync::release);
        h = to.filling;
        // [commit] release: pairs with [probe]
        // acquire on failure: pairs with [commit]
        if (!b.head.compare_exchange(h, to.filling + to.step, sync::release, sync::acquire)) [[unlikely]]
          return commit_further(t, who, hash, {&at, &b, word, value, slot_state::valid}, s, h);
        // Linearization point as in `show`, [fill] acq_rel: pairs with [key]
        if (!s.compare_exchange({pending, word}, {word, value})) [[unlikely]]
          show_further<Policy>(at, b, hash, word, value);
        count_entries(t, who, 1);
        return {.word = value};
      }
    }
  }
  return insert_further(t, who, hash, word, value);
}

} // namespace cubby::inline v0::detail::engines::dlht
