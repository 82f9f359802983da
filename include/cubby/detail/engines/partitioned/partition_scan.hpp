// SPDX-License-Identifier: Apache-2.0
// Operations on all partitions of a table: scans, batches of finds, statistics.
#pragma once

#include <cubby/detail/core/prefetch_group.hpp>
#include <cubby/detail/engines/partitioned/delegate.hpp>

namespace cubby::inline v0::detail::engines::partitioned {

inline constexpr std::size_t most_partitions = 4096;

/// A partition's share of so many entries, and six standard deviations more, because no hash spreads keys evenly.
inline std::uint64_t share_of(std::uint64_t entries, std::size_t partitions) noexcept {
  const std::uint64_t mean = entries / partitions + (entries % partitions != 0 ? 1 : 0);
  if (partitions == 1) return mean;
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 31; bit != 0; bit /= 2)
    if ((root + bit) * (root + bit) <= mean) root += bit;
  return mean + 6 * (root + 1);
}

/// Whether memory can hold so many partitions of so many lines. The sum is checked, because each partition alone might be granted.
inline bool can_hold(std::size_t partitions, std::uint64_t lines) noexcept {
  return lines <= arrays::most_lines && memory::can_hold(partitions * (lines + 1) * cpu::cache_line);
}

/// Calls `f(key word, value word)` for each entry. Weak: an entry that is present throughout is shown once. One that is erased and
/// inserted again may be shown twice.
template <class Policy, class F> void for_each(const partition_set<Policy>& set, F& f) {
  for (std::size_t i = 0; i < set.count; ++i) {
    const partition& p = set.all[i];
    for (std::uint64_t word = 0; word < reserved_words; ++word)
      if (const found_word seen = find_aside(p, word); seen.found) f(word, seen.word);
    const partition_array& a = array_of(p);
    for (std::uint64_t at = 0; at < a.slot_count(); ++at) {
      const open_slot& s = a.slots()[at];
      // [look] acquire: pairs with [slot-shown]
      const std::uint64_t key = s.first.load(sync::acquire);
      if (key == empty || key == dead) continue;
      // [look-value] acquire: pairs with [slot-filled]
      f(key, s.second.load(sync::acquire));
    }
  }
}

/// Calls `take(i, found_word)` once for each i in [0, count), in order, with the answer to the probe `make(i)`. The lines of the next
/// group are prefetched before this group is read (section 3.1).
template <class Policy, class Make, class Take>
CUBBY_ALWAYS_INLINE void find_many(const partition_set<Policy>& set, std::size_t count, Make& make, Take& take) {
  struct request {
    const partition_array* in;
    open_slot* line;
    std::uint64_t word;
    std::size_t partition;
  };
  prefetch_group::ring<request> requests;
  const auto ask = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    for (std::size_t i = first; i < last; ++i) {
      const word_probe p = make(i);
      const whereabouts at = whereabouts_of(set, p.hash);
      const partition_array& a = array_of(set.all[at.partition]);
      requests[i] = {&a, home_line<Policy>(a, at.rest), p.word, at.partition};
      prefetch_line(requests[i].line);
    }
  };
  const auto answer = [&](std::size_t first, std::size_t last) CUBBY_INLINED {
    for (std::size_t i = first; i < last; ++i) {
      const request& r = requests[i];
      take(i, is_reserved(r.word) ? find_aside(set.all[r.partition], r.word) : find_in_lines(*r.in, r.line, r.word));
    }
    return true;
  };
  prefetch_group::for_each(count, ask, answer, prefetch_group::size_in(count));
}

template <class Policy> std::size_t live_entries(const partition_set<Policy>& set) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < set.count; ++i) sum += set.all[i].live.load(sync::relaxed); // relaxed: a recent value
  return sum;
}

/// Adds the statistics of a partition to `out`, and returns the pages of its array.
inline memory::region add_figures(partition& p, table_stats& out) noexcept {
  lock_scope still(p.writing);
  const partition_array& a = *p.current.load(sync::relaxed); // relaxed: it is stored under this lock
  out.size += p.live.load(sync::relaxed);                    // relaxed: as above
  out.capacity += a.slot_count();
  out.bins += a.lines;
  out.bytes += a.pages.bytes;
  for (const partition_array* gone = p.retired; gone != nullptr; gone = gone->next_retired) {
    ++out.retired;
    out.bytes += gone->pages.bytes;
  }
  out.growths += p.growths.load(sync::relaxed);   // relaxed: a statistic
  out.shrinks += p.shrinks.load(sync::relaxed);   // relaxed: a statistic
  out.rebuilds += p.rebuilds.load(sync::relaxed); // relaxed: a statistic
  return a.pages;
}
/// The statistics of the table. Blocks for the writer of each partition in turn.
template <class Policy> table_stats stats(partition_set<Policy>& set) noexcept {
  table_stats out;
  for (std::size_t i = 0; i < set.count; ++i) {
    const memory::region pages = add_figures(set.all[i], out);
    out.huge_bytes += memory::huge_bytes(pages); // reads a file, so not under the lock
  }
  return out;
}

} // namespace cubby::inline v0::detail::engines::partitioned
