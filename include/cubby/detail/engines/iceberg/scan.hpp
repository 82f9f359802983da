// SPDX-License-Identifier: Apache-2.0
// Iteration, weak: each bucket is copied under its lock, and shown without it.
#pragma once

#include <cubby/detail/engines/iceberg/change.hpp>
#include <cubby/detail/engines/iceberg/move.hpp>

namespace cubby::inline v0::detail::engines::iceberg {

/// The entries of a bucket, copied.
template <class Policy> struct copied_entries {
  typename Policy::stored_key keys[front_slots];
  typename Policy::stored_value values[front_slots];
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

template <class Policy, class F>
void scan_fronts(table<Policy>& t, unsigned number, copied_entries<Policy>& copied, F& f) {
  auto& s = segment_at(t, number);
  for (std::uint64_t i = 0; i < s.fronts; ++i) {
    front_line& line = s.lines[i];
    if (number != 0 && !is_ready(line)) continue; // it has no entries
    const std::uint64_t word = lock_line(line);
    const bool in_use = number == 0 || (word & state::ready) != 0;
    for (std::uint64_t mask = in_use ? used_slots(line) : 0; mask != 0; mask &= mask - 1)
      copied.add(s.slots[i * front_slots + cpu::lowest_bit(mask)]);
    unlock_unchanged(line, word);
    copied.show(f);
  }
}
template <class Policy, class F>
void scan_backs(table<Policy>& t, unsigned number, copied_entries<Policy>& copied, F& f) {
  auto& s = segment_at(t, number);
  for (std::uint64_t i = 0; i < s.backs; ++i) {
    back_line& line = s.back_lines[i];
    if (number != 0 && !is_ready(line)) continue; // as above
    const std::uint64_t word = lock_back(line);
    const bool in_use = number == 0 || (word & back::ready) != 0;
    for (unsigned slot = 0; in_use && slot < back_slots; ++slot)
      if ((word >> (8 * slot) & 0x7f) != 0) copied.add(s.behind[i * back_slots + slot]);
    unlock_back(line, word);
    copied.show(f);
  }
}
/// Shows the entry of a node. A wide value is copied under the lock of its front bucket, unless the entry has moved or has been
/// erased. So is one of a durable table, where a change is seen only when it is durable.
template <class Policy, class F>
void show_node(table<Policy>& t, chain& c, const node<Policy>& n, copied_entries<Policy>& copied, F& f) {
  if constexpr (waits_for_writer<Policy>) {
    const home<Policy> at = lock_home(t, hashed_for(hash_of_slot(t.policy, n.entry()), t.fronts));
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
    for (std::uint64_t i = 0; i <= in.mask; ++i) {
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

/// Calls `scan(number)` for each segment, those included that are added meanwhile.
template <class Policy, class Scan> void for_each_segment(table<Policy>& t, Scan scan) {
  for (unsigned number = 0; number <= first_root(t).level(); ++number) scan(number);
}

/// A weak scan, inside a guard. While the table grows, entries move from chains and backs to fronts, and from a segment to a later one.
/// The scan goes in the same direction, so it meets each entry, perhaps twice. After a merge, which moves entries the other way, it
/// begins again.
template <class Policy, class F> void for_each(table<Policy>& t, F& f) {
  copied_entries<Policy> copied;
  for (;;) {
    const std::uint64_t merges = t.merges.load(sync::relaxed); // relaxed: read before the locks that a merge releases
    scan_chains(t, copied, f);
    for_each_segment(t, [&](unsigned number) { scan_backs(t, number, copied, f); });
    for_each_segment(t, [&](unsigned number) { scan_fronts(t, number, copied, f); });
    if (t.merges.load(sync::relaxed) == merges) return; // relaxed: behind the acquire of each lock
  }
}

} // namespace cubby::inline v0::detail::engines::iceberg
