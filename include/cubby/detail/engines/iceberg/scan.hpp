// SPDX-License-Identifier: Apache-2.0
// Iteration, weak: each bucket is copied under its lock, and shown without it.
#pragma once

#include <cubby/detail/core/scan_phases.hpp>
#include <cubby/detail/engines/iceberg/change.hpp>
#include <cubby/detail/engines/iceberg/move.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// The entries of a bucket, copied.
template <class Policy> struct copied_entries {
  typename Policy::stored_key keys[front_slots<slot_of<Policy>>];
  typename Policy::stored_value values[front_slots<slot_of<Policy>>];
  unsigned count = 0;

  void add(const slot_of<Policy>& s) noexcept {
    keys[count] = key_in<Policy>(s);
    values[count] = value_in<Policy>(s);
    ++count;
  }
  template <class F> void show(F& f) {
    for (unsigned i = 0; i < count; ++i) f(keys[i], values[i]);
    count = 0;
  }
};

template <class Policy> using segment_of = typename table<Policy>::segment_type;

/// Shows the front buckets [first, end) of a segment.
template <class Policy, class F>
void scan_fronts(segment_of<Policy>& s, bool is_first, std::uint64_t first, std::uint64_t end,
                 copied_entries<Policy>& copied, F& f) {
  for (std::uint64_t i = first; i < end; ++i) {
    front_line& line = s.lines[i];
    if (!is_first && !is_ready(line)) continue; // it has no entries
    const std::uint64_t word = lock_line(line);
    const bool in_use = is_first || (word & state::ready) != 0;
    for (std::uint64_t mask = in_use ? used_slots<slot_of<Policy>>(line) : 0; mask != 0; mask &= mask - 1)
      copied.add(s.slots[i * front_slots<slot_of<Policy>> + cpu::lowest_bit(mask)]);
    unlock_unchanged(line, word);
    copied.show(f);
  }
}
template <class Policy, class F>
void scan_backs(segment_of<Policy>& s, bool is_first, std::uint64_t first, std::uint64_t end,
                copied_entries<Policy>& copied, F& f) {
  for (std::uint64_t i = first; i < end; ++i) {
    back_line& line = s.back_lines[i];
    if (!is_first && !is_ready(line)) continue; // as above
    const std::uint64_t word = lock_back(line);
    const bool in_use = is_first || (word & back::ready) != 0;
    for (unsigned slot = 0; in_use && slot < back_slots; ++slot)
      if ((word >> (8 * slot) & 0x7f) != 0) copied.add(s.behind[i * back_slots + slot]);
    unlock_back(line, word);
    copied.show(f);
    end_part(f); // a merge may put what waits into its other back bucket, which may come
  }
}
/// Shows the entry of a node. A wide value is copied under the lock of its front bucket, unless the entry has moved or has been
/// erased. So is one of a durable table, where a change is seen only when it is durable.
template <class Policy, class F>
void show_node(table<Policy>& t, chain& c, const node<Policy>& n, copied_entries<Policy>& copied, F& f) {
  if constexpr (waits_for_writer<Policy>) {
    const home<Policy> at = lock_home(t, hashed_in(t, hash_of_slot(t.policy, n.entry())));
    if (is_linked(c, n)) copied.add(n.entry());
    unlock_unchanged(*at.at.line, at.state);
    copied.show(f);
  } else {
    const auto key = key_in<Policy>(n.entry());
    if (!is_being_erased<Policy>(key)) f(key, value_in<Policy>(n.entry()));
  }
}
template <class Policy, class F> void scan_chains(table<Policy>& t, copied_entries<Policy>& copied, F& f) {
  using node_type = node<Policy>;
  for_each_chain_array(t, [&](const chain_array& in) {
    if (!has_entries(in)) return; // one that leaves meanwhile goes where the scan looks next
    for (std::uint64_t i = 0; i < in.count; ++i) {
      // [link] acquire: pairs with [put-link]
      std::uint64_t link = in.heads[i].first.load(sync::acquire);
      while (link != 0) {
        const node_type& n = *node_at<Policy>(link);
        link = n.next.load(sync::acquire); // [link] acquire: pairs with [put-link]
        show_node(t, in.heads[i], n, copied, f);
      }
    }
  });
}

/// A part of a scan: all chains, or one yard of one segment.
template <class Policy> struct scan_phase {
  yard what;
  unsigned number;           // of the segment
  segment_of<Policy>* where; // null for chains
  std::uint64_t units;       // buckets; the chains are one
  std::uint64_t merges;      // when this round began
};
template <class Policy> scan_phase<Policy> first_phase(const table<Policy>& t) noexcept {
  return {yard::chain, 0, nullptr, 1,
          t.merges.load(sync::relaxed)}; // relaxed: read before the locks that a merge releases
}
/// A weak scan, inside a guard. While the table grows, entries move from chains and backs to fronts, and from a segment to a later one.
/// The phases go in the same direction, those of segments included that are added meanwhile. So the scan meets each entry, perhaps twice.
/// After a merge, which moves entries the other way, it begins again. False: the scan is over.
template <class Policy> bool to_next_phase(const table<Policy>& t, scan_phase<Policy>& at) noexcept {
  const bool is_last_segment = at.number >= first_root(t).level();
  if (at.what == yard::front && is_last_segment) {
    const bool again = t.merges.load(sync::relaxed) != at.merges; // relaxed: behind the acquire of each lock
    at = first_phase(t);
    return again;
  }
  if (at.what == yard::chain || is_last_segment) {
    at.what = at.what == yard::chain ? yard::back : yard::front;
    at.number = 0;
  } else {
    ++at.number;
  }
  at.where = &segment_at(t, at.number);
  at.units = at.what == yard::back ? at.where->backs : at.where->fronts;
  return true;
}
/// Shows `count` units of a phase.
template <class Policy, class F>
void show_part(table<Policy>& t, const scan_phase<Policy>& at, std::uint64_t first, std::uint64_t count, F& f) {
  copied_entries<Policy> copied;
  const std::uint64_t end = first + count;
  if (at.what == yard::chain) scan_chains(t, copied, f);
  else if (at.what == yard::back) scan_backs<Policy>(*at.where, at.number == 0, first, end, copied, f);
  else scan_fronts<Policy>(*at.where, at.number == 0, first, end, copied, f);
  end_part(f);
}

template <class Policy, class F> void for_each(table<Policy>& t, F& f) {
  scan_phase<Policy> at = first_phase(t);
  do show_part(t, at, 0, at.units, f);
  while (to_next_phase(t, at));
}

/// A scan that threads share. The guard of the thread that begins it keeps the segments.
template <class Policy> using shared_scan = scan_phases<scan_phase<Policy>>;
template <class Policy, class F> void for_each_of(table<Policy>& t, shared_scan<Policy>& w, F& f) {
  constexpr std::uint64_t at_a_time = 64; // front buckets, which have 56 slots each, or 28
  w.share_out(
      at_a_time,
      [&](const scan_phase<Policy>& at, std::uint64_t first, std::uint64_t count) {
        show_part(t, at, first, count, f);
      },
      [&](scan_phase<Policy>& at) { return to_next_phase(t, at); });
}

} // namespace cubby::inline v0::detail::engines::iceberg
