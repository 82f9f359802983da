// SPDX-License-Identifier: Apache-2.0
// How a table is made, and how it ends.
#pragma once

#include <cubby/detail/core/moved_table.hpp>
#include <cubby/detail/engines/iceberg/reopen.hpp>
#include <cubby/detail/engines/iceberg/settle.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// Seven back buckets for eight front buckets of 56 slots, or for sixteen of 28: an eighth of the front's slots, as in the paper. Two front
/// buckets have two, so that there is a choice.
template <class Slot> constexpr std::uint64_t backs_for(std::uint64_t fronts) noexcept {
  return fronts <= 2 || sizeof(typename Slot::tag) == 1 ? fronts - fronts / 8 : fronts / 2 - fronts / 16 + fronts % 2;
}
/// The load for which a `fixed` table is made, in parts of 1000. At 965 it takes 17.8 bytes for each entry of 16 (README.md).
inline constexpr std::uint64_t fixed_load = 965;

template <class Slot> std::uint64_t fronts_for(const options& o) noexcept {
  const std::uint64_t load = o.growth == growth_policy::fixed ? fixed_load : std::uint64_t{o.grow_at} * 10;
  const std::uint64_t slots = o.capacity / load * 1000 + (o.capacity % load * 1000 + load - 1) / load;
  constexpr std::uint64_t in_front = front_slots<Slot>;
  constexpr std::uint64_t in_eight = 9 * in_front; // of eight front buckets, and of the back buckets for them
  for (std::uint64_t few = 1; few <= 2; ++few)
    if (slots <= few * (in_front + back_slots)) return few;
  return (slots * 8 + in_eight - 1) / in_eight;
}

/// The usual mark. Slots of texts are wide and their keys few, so they may have space: at 91 % inserts and misses of texts are slower
/// by 14 to 27 % (docs/performance/raw.md, "The mark of texts"). Buckets of 28 slots would fill chains if entries came and went above 87 %
/// (docs/performance/iceberg.md, "Churn at the bound").
template <class Policy> inline constexpr std::uint32_t usual_mark = key_owning_policy<Policy>                   ? 75
                                                                    : sizeof(typename slot_of<Policy>::tag) > 1 ? 85
                                                                                                                : 91;

/// Puts the options within their limits. False: the capacity is too large.
template <class Policy> bool limit(options& o) noexcept {
  if (o.grow_at == 0) o.grow_at = usual_mark<Policy>;
  if (o.chunk_bins == 0) o.chunk_bins = 1;
  if (o.move_bins == 0) o.move_bins = 1;
  if (o.grow_at < 50) o.grow_at = 50;
  if (o.grow_at > 97) o.grow_at = 97;
  return o.capacity <= most_capacity;
}

/// What a new file says of its slots, and how many buckets it begins with. False: the capacity is too large.
template <durable Policy> bool describe(pool_layout::identity& out, options wanted) noexcept {
  constexpr bool no_values = !Policy::has_values && !Policy::in_records;
  if (!limit<Policy>(wanted)) return false;
  out.slot_bytes = sizeof(slot_of<Policy>);
  out.key_words = static_cast<std::uint16_t>(word_count<typename Policy::stored_key>);
  out.value_words = no_values ? 0 : static_cast<std::uint16_t>(word_count<typename Policy::stored_value>);
  out.fronts = fronts_for<slot_of<Policy>>(wanted);
  out.backs = backs_for<slot_of<Policy>>(out.fronts);
  return true;
}

/// Initializes a new table, or opens a durable one. False: no memory, or no thread for background growth.
template <class Policy> bool open(table<Policy>& t) noexcept {
  options& o = t.settings;
  if (!t.home || !limit<Policy>(o)) return false;
  if constexpr (durable<Policy>) {
    if (!open_durable(t) || !start_syncs(t)) return false;
  } else {
    t.fronts = fronts_for<slot_of<Policy>>(o);
    t.backs = backs_for<slot_of<Policy>>(t.fronts);
    auto* const first = make_segment<slot_of<Policy>>(t.fronts, t.backs);
    if (first == nullptr) return false;
    t.segments[0].store(first, sync::relaxed); // relaxed: the table is not shared yet
    if (!add_chains(t, 0) || !open_places(t, 0)) return false;
  }
  return o.growth != growth_policy::background || t.worker.start(background_work<Policy>, &t, t.home->forks);
}

/// Frees what an entry owns.
template <class Policy> void dispose_entry([[maybe_unused]] table<Policy>& t, const slot_of<Policy>& s) {
  if constexpr (Policy::in_records) t.policy.dispose(value_in<Policy>(s));
  if constexpr (key_owning_policy<Policy>) {
    if (const std::uint64_t record = key_record_of<Policy>(s); record != 0) t.policy.dispose_key(record);
  }
}
/// Whether lookups find an entry of a lower front bucket in the upper one. In the child of a fork the thread that split or merged the
/// two may be missing; then the entry stands in both.
template <class Policy>
bool is_in_upper(const table<Policy>& t, const slot_of<Policy>& s, root_word r) noexcept {
  const hashed h = hashed_in(t, hash_of_slot(t.policy, s));
  return (h.copies & top_of(r.level())) != 0 && is_ready(*front_of(t, h, r.level()).line);
}
/// The same for bucket `i` of a segment of back buckets.
template <class Policy>
bool is_in_upper_back(const table<Policy>& t, const slot_of<Policy>& s, root_word r, unsigned number,
                      std::uint64_t i) noexcept {
  const std::uint64_t copy = (number == 0 ? 0 : std::uint64_t{1} << (number - 1)) + i / t.backs;
  const pair_position p{i % t.backs, copy, r.level()};
  return is_ready(*back_at(t, p.residue, p.upper()).line) && goes_up(t, p, s);
}

/// Disposes of the entries of a segment.
template <class Policy> void dispose_entries(table<Policy>& t, segment<slot_of<Policy>>& s, unsigned number,
                                             root_word r) {
  const bool lower = r.moving() && number != r.level();
  for (std::uint64_t i = 0; i < s.fronts; ++i) {
    if (number != 0 && !is_ready(s.lines[i])) continue;
    for (std::uint64_t mask = used_slots<slot_of<Policy>>(s.lines[i]); mask != 0; mask &= mask - 1) {
      auto& one = s.slots[i * front_slots<slot_of<Policy>> + cpu::lowest_bit(mask)];
      if (!lower || !is_in_upper(t, one, r)) dispose_entry(t, one);
    }
  }
  for (std::uint64_t i = 0; i < s.backs; ++i) {
    const std::uint64_t word = s.back_lines[i].load(sync::relaxed); // relaxed: no other thread is here
    for (unsigned slot = 0; slot < back_slots; ++slot) {
      auto& one = s.behind[i * back_slots + slot];
      if ((word >> (8 * slot) & 0x7f) == 0) continue;
      if (!lower || !is_in_upper_back(t, one, r, number, i)) dispose_entry(t, one);
    }
  }
}

/// Disposes of all entries and frees all segments. No other thread may use the table any more.
template <class Policy> void close(table<Policy>& t) {
  using node_type = node<Policy>;
  t.closing.store(1, sync::relaxed); // relaxed: only a request to stop early
  t.worker.stop();
  if constexpr (durable<Policy>) {
    stop_syncs(t);
    if (!t.policy.home().is_owner()) t.bag.forget_all();
  }
  const root_word r = first_root(t);
  for (unsigned number = 0; number <= r.level(); ++number) {
    auto* const s = t.segments[number].load(sync::relaxed); // relaxed: no other thread is here
    if (s == nullptr) break;
    // what a durable table has stays in its file
    if constexpr (!durable<Policy> && (Policy::in_records || key_owning_policy<Policy>))
      dispose_entries(t, *s, number, r);
  }
  for_each_chain_array(t, [&](const chain_array& in) {
    for (std::uint64_t i = 0; i < in.count; ++i) {
      for (std::uint64_t link = in.heads[i].first.load(sync::relaxed); link != 0;) { // relaxed: as above
        node_type* const n = node_at<Policy>(link);
        link = n->next.load(sync::relaxed); // relaxed: as above
        if constexpr (!durable<Policy>) dispose_entry(t, n->entry());
        give_raw(n);
      }
    }
  });
  free_chains(t);
  for (unsigned number = 0; number <= r.level(); ++number)
    if (auto* const s = t.segments[number].load(sync::relaxed)) free_array(s); // relaxed: as above
  if (auto* const made = take_next(t)) free_array(made);
  t.retired.free_all();
}

/// Before a table moves: ends its worker, and frees all that waits to be freed.
template <class Policy> table<Policy>&& at_rest(table<Policy>& t) noexcept {
  end_worker(t);
  for (bool any = true; any;) { // an allocator may call the table
    any = t.bag.dispose_all();
    any = t.node_bag.dispose_all() || any;
    if constexpr (key_owning_policy<Policy>) any = t.key_records.bag.dispose_all() || any;
  }
  t.retired.free_all();
  return std::move(t);
}
} // namespace cubby::inline v0::detail::engines::iceberg
