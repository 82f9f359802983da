// SPDX-License-Identifier: Apache-2.0
// The writes of a partition's one writer (DRAMHiT section 3.2). It uses no locked instruction, and compares whole lines with vector
// instructions, because no other thread writes. Unlike the paper, a writer can copy its partition to an array of another size and
// publish that by one store. Readers stay in the old array until a grace period has ended. The caller of each function that changes
// a partition holds `partition::writing`.
#pragma once

#include <type_traits>

#include <cubby/detail/engines/partitioned/partition.hpp>

namespace cubby::inline v0::detail::engines::partitioned {

/// The kinds of messages to a writer.
enum class write_kind : std::uint8_t { insert_or_assign, insert_or_add, erase };

template <class Policy>
inline constexpr bool adds = requires(const typename Policy::mapped_type& v) {
  { static_cast<typename Policy::mapped_type>(v + v) } noexcept;
};
/// The sum of two values. It runs the `+` of the type while `writing` is held, so only for types with `adds_in_place`
/// (delegated_map.hpp).
template <class Policy> std::uint64_t sum_of(const Policy& policy, std::uint64_t a, std::uint64_t b) noexcept {
  if constexpr (adds<Policy>) {
    using V = typename Policy::mapped_type;
    return detail::bits_of_value(static_cast<V>(policy.value(a) + policy.value(b)));
  }
  return b;
}

/// A new array with empty slots; null without memory.
inline partition_array* make_partition_array(std::uint64_t lines) noexcept {
  if (lines > arrays::most_lines) return nullptr;
  const memory::region pages = memory::allocate((lines + 1) * cpu::cache_line);
  if (pages.address == nullptr) return nullptr;
  auto* const made = ::new (static_cast<void*>(pages.address)) partition_array;
  made->lines = lines;
  made->pages = pages;
  return made;
}
inline void free_partition_array(partition_array* gone) noexcept {
  memory::region pages = gone->pages;
  memory::release(pages);
}

/// Frees retired arrays that no reader can see, at most `slice` bytes: to unmap gigabytes at once would delay the writes.
inline void collect_arrays(domain& readers, partition& p, std::size_t slice = std::size_t{4} << 20) noexcept {
  if (p.retired == nullptr) return;
  const std::uint64_t oldest = readers.oldest();
  partition_array** link = &p.retired;
  while (partition_array* const one = *link) {
    if (oldest < one->retired_at) {
      link = &one->next_retired;
      continue;
    }
    if (one->pages.bytes > slice) {
      memory::release(one->pages, slice); // from its end, so that the head stays
      return;
    }
    slice -= one->pages.bytes;
    *link = one->next_retired;
    free_partition_array(one);
  }
}

/// The slot with the word, or else the slot that an insert would take; null: neither exists.
struct spot {
  open_slot* at = nullptr;
  bool present = false;
};
template <class Policy>
CUBBY_ALWAYS_INLINE spot seek(const partition_set<Policy>& set, const partition_array& a, std::uint64_t rest,
                              std::uint64_t word) noexcept {
  open_slot* line = home_line<Policy>(a, rest);
  for (std::uint64_t looked = 0; looked < a.lines; ++looked) {
    sync::hook(sync::step::load, line);
    const simd::line_match seen = set.match(line, word);
    if (seen.equal != 0) return {line + std::countr_zero(seen.equal), true};
    if (seen.zero != 0) return {line + std::countr_zero(seen.zero), false};
    line = line_after(a, line);
  }
  return {};
}

/// The slot at the end of a chain, in an array that has space.
template <class Policy>
open_slot& free_slot(const partition_set<Policy>& set, const partition_array& a, std::uint64_t rest) noexcept {
  for (open_slot* line = home_line<Policy>(a, rest);; line = line_after(a, line)) {
    sync::hook(sync::step::load, line);
    const std::uint32_t free = set.match(line, empty).zero;
    if (free != 0) return line[std::countr_zero(free)];
  }
}

/// Copies all entries to an array of so many lines and publishes it. O(slots). False: no memory; nothing has changed.
template <class Policy> bool rebuild(partition_set<Policy>& set, partition& p, std::uint64_t lines) noexcept {
  partition_array* const to = make_partition_array(lines);
  if (to == nullptr) return false;
  partition_array* const from = p.current.load(sync::relaxed); // relaxed: only the writer stores it
  std::uint64_t moved_entries = 0;
  for (std::uint64_t i = 0; i < from->slot_count(); ++i) {
    open_slot& old = from->slots()[i];
    const std::uint64_t key = old.first.load(sync::relaxed); // relaxed: only the writer stores them
    if (key == empty || key == dead) continue;
    const std::uint64_t value = old.second.load(sync::relaxed); // relaxed: as above
    open_slot& free = free_slot(set, *to, whereabouts_of(set, set.policy.hash_of(key, value)).rest);
    free.second.store(value, sync::relaxed); // relaxed: no thread sees the array yet
    free.first.store(key, sync::relaxed);    // relaxed: as above
    ++moved_entries;
  }
  auto& counter = lines > from->lines ? p.growths : lines < from->lines ? p.shrinks : p.rebuilds;
  counter.store(counter.load(sync::relaxed) + 1, sync::relaxed); // relaxed: a statistic of one writer
  p.used = moved_entries;
  p.dead_slots = 0;
  // [publish-partition] release: pairs with [partition-array]
  p.current.store(to, sync::release);
  from->retired_at = set.home->advance();
  from->next_retired = p.retired;
  p.retired = from;
  collect_arrays(*set.home, p);
  return true;
}

/// The lines of the array that should replace a crowded one; 0: no replacement. A `fixed` table is rebuilt at its size if that frees
/// enough dead slots. A partition of it grows only if it gets more than its share of the keys, or if pending writes exceed the bound.
template <class Policy>
std::uint64_t lines_to_follow(const partition_set<Policy>& set, const partition& p, const partition_array& a) noexcept {
  if (set.settings.growth == growth_policy::fixed) {
    if (p.dead_slots >= a.slot_count() / 8) return a.lines;
    return p.used < a.slot_count() ? 0 : a.lines * 2;
  }
  const bool grows = (p.used - p.dead_slots) * 5 >= a.slot_count() * 2;
  return grows ? a.lines * arrays::growth_factor(a.lines, set.settings) : a.lines;
}

/// Makes sure that there is an empty slot; false: there is none. An array is replaced when four fifths of its slots are live or dead;
/// without memory it is filled to the last slot.
template <class Policy> bool make_space(partition_set<Policy>& set, partition& p) noexcept {
  const partition_array& a = *p.current.load(sync::relaxed); // relaxed: only the writer stores it
  if (p.used < a.slot_count() - a.slot_count() / 5) [[likely]]
    return true;
  const std::uint64_t lines = lines_to_follow(set, p, a);
  return (lines != 0 && rebuild(set, p, lines)) || p.used < a.slot_count();
}

/// Counts an insert (`came`) or an erase.
template <class Policy> void count_entry(partition_set<Policy>& set, partition& p, bool came) noexcept {
  const std::uint64_t before = p.live.load(sync::relaxed); // relaxed: a count of one writer
  const std::uint64_t now = came ? before + 1 : before - 1;
  p.live.store(now, sync::relaxed); // relaxed: as above
  if (set.settings.growth != growth_policy::fixed) return;
  // relaxed: only a number; writes that are pending when it reaches the bound are carried out
  (void)set.placed.fetch_add(came ? 1 : ~std::uint64_t{0}, sync::relaxed);
}

template <class Policy>
CUBBY_NEVER_INLINE void write_aside(partition_set<Policy>& set, partition& p, std::uint64_t word, std::uint64_t value,
                                    write_kind what) noexcept {
  open_slot& s = p.side[word];
  const std::uint64_t state = s.first.load(sync::relaxed); // relaxed: only the writer stores it
  const bool present = state % 2 != 0;
  if (what == write_kind::erase) {
    if (!present) return;
    // Linearization point of the erase. [side-shown] release: pairs with [side-key]
    s.first.store(state + 1, sync::release);
    count_entry(set, p, false);
    return;
  }
  if (what == write_kind::insert_or_add && present)
    value = sum_of(set.policy, s.second.load(sync::relaxed), value); // relaxed: only the writer stores it
  // Linearization point of a change. [side-filled] release: pairs with [side-value]
  s.second.store(value, sync::release);
  if (present) return;
  // Linearization point of an insert. [side-shown] release: pairs with [side-key]
  s.first.store(state + 1, sync::release);
  count_entry(set, p, true);
}

/// Carries out one message. False: it needed a slot, and there was no memory for a larger array.
template <class Policy>
CUBBY_ALWAYS_INLINE bool carry_out(partition_set<Policy>& set, partition& p, std::uint64_t rest, std::uint64_t word,
                                   std::uint64_t value, write_kind what) noexcept {
  if (is_reserved(word)) [[unlikely]] {
    write_aside(set, p, word, value, what);
    return true;
  }
  spot found = seek(set, *p.current.load(sync::relaxed), rest, word); // relaxed: only the writer stores it
  if (found.present) {
    if (what == write_kind::erase) {
      // Linearization point of the erase. [slot-shown] release: pairs with [look]
      found.at->first.store(dead, sync::release);
      ++p.dead_slots;
      count_entry(set, p, false);
      return true;
    }
    if (what == write_kind::insert_or_add)
      value = sum_of(set.policy, found.at->second.load(sync::relaxed), value); // relaxed: only the writer stores it
    // Linearization point of a change. [slot-filled] release: pairs with [look-value]
    found.at->second.store(value, sync::release);
    return true;
  }
  if (what == write_kind::erase) return true;
  const partition_array* const before = p.current.load(sync::relaxed); // relaxed: only the writer stores it
  if (!make_space(set, p)) return false;
  const partition_array* const now = p.current.load(sync::relaxed); // relaxed: as above
  if (now != before) found = seek(set, *now, rest, word);
  found.at->second.store(value, sync::relaxed); // relaxed: a thread that sees the key below sees it
  // Linearization point of the insert. [slot-shown] release: pairs with [look]
  found.at->first.store(word, sync::release);
  ++p.used;
  count_entry(set, p, true);
  return true;
}

} // namespace cubby::inline v0::detail::engines::partitioned
