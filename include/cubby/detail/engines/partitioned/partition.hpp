// SPDX-License-Identifier: Apache-2.0
// A partition of DRAMHiT-P (section 3.2): an array that every thread reads and one thread at a time writes to, with plain
// stores. The slots are those of layout.hpp; here they change in fewer ways:
//   empty {0, 0} -> live {k, v}: the value first, then the key      live {k, v} -> {k, v'}: one store
//   live {k, v} -> dead {1, v}: one store, final
// P1  A slot that has held a key is never another key's: a thread that has read k in a slot reads a value of k behind it, which was
//     current at some moment since. Slots of a chain fill in order, so the first empty one ends every search.
// P2  Only the holder of `writing` stores here. An array that has been replaced is not written to any more.
#pragma once

#include <bit>
#include <new>

#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/core/registry.hpp>
#include <cubby/detail/core/word_codec.hpp>
#include <cubby/detail/engines/dramhit/find.hpp>
#include <cubby/detail/engines/dramhit/resize.hpp>
#include <cubby/detail/engines/partitioned/options.hpp>
#include <cubby/detail/platform/simd.hpp>

namespace cubby::inline v0::detail::engines::partitioned {

using open_slot = dramhit::slot;
using dramhit::dead, dramhit::empty, dramhit::reserved_words, dramhit::slots_in_line;
using dramhit::is_reserved, dramhit::lines_for, dramhit::map_hash, dramhit::word_layout;
using dramhit::look_at_words, dramhit::lookup_step;

/// The head of an array, in the line before its slots. Constant once it is published.
struct alignas(cpu::cache_line) partition_array {
  std::uint64_t lines = 0;
  memory::region pages;
  std::uint64_t tag = 0; ///< epoch at which it was replaced; of the writer, as is the next one
  partition_array* next_retired = nullptr;

  [[nodiscard]] open_slot* slots() const noexcept {
    return reinterpret_cast<open_slot*>(pages.address + sizeof(partition_array));
  }
  [[nodiscard]] std::uint64_t slot_count() const noexcept { return lines * slots_in_line; }
};
static_assert(sizeof(partition_array) == cpu::cache_line);

struct alignas(cpu::cache_line) partition {
  // Everybody reads this line, and the writer seldom stores to it.
  sync::word<partition_array*> current;
  sync::word<std::uint32_t> owners; ///< threads that have said that they serve it
  /// Keys with a reserved word. Key word: odd while present, one more at each coming and going.
  alignas(cpu::cache_line) open_slot side[reserved_words];

  /// Held while somebody writes: never waited for by readers. All writes end with giving it back, so that is where they are
  /// made visible (A.1).
  alignas(cpu::cache_line) small_lock<sync::shared, unlocking::seen> writing;
  /// What follows is the writer's; others read the words.
  alignas(cpu::cache_line) sync::word<std::uint64_t> live; ///< entries
  std::uint64_t used = 0;                                  ///< slots of the array that are not empty
  std::uint64_t dead_slots = 0;                            ///< of these
  partition_array* retired = nullptr;
  std::uint32_t rounds = 0; ///< since retired arrays were looked at
  sync::word<std::uint64_t> growths;
  sync::word<std::uint64_t> shrinks;
  sync::word<std::uint64_t> rebuilds;
};

/// All partitions of a table, and what their writers go by.
template <class Policy> struct partition_set {
  partition_set(const options& chosen, Policy slots) : policy(std::move(slots)), settings(chosen) {}
  const domain_ref home = domain_of_table<sync::shared>(); ///< whose thread records keep alive what the table shows
  Policy policy;
  options settings;
  std::size_t count = 0;
  partition* all = nullptr;
  std::uint64_t least_lines = 1; ///< of each partition: what `settings.capacity` asked for
  /// Of the caller's image: a table that several of them use keeps no function's address.
  CUBBY_OF_IMAGE static simd::line_match match(const void* line, std::uint64_t word) noexcept {
    static const simd::match_function widest = simd::widest_matcher();
    return widest(line, word);
  }
  std::uint64_t bound = ~std::uint64_t{0}; ///< entries at which a `fixed` table refuses new keys
  /// Of a `fixed` table: entries of all partitions. Its writers change it, and senders read it.
  alignas(cpu::cache_line) sync::word<std::uint64_t> placed;
};

/// Where a hash leads: a partition, and the bits that choose a line in it.
struct whereabouts {
  std::uint64_t partition;
  std::uint64_t rest;
};
template <class Policy>
CUBBY_ALWAYS_INLINE whereabouts whereabouts_of(const partition_set<Policy>& set, std::uint64_t hash) noexcept {
  if constexpr (Policy::mapping == bin_mapping::fastrange) {
    const cpu::product at = cpu::multiply(hash, set.count);
    return {at.high, at.low};
  } else {
    return {hash % set.count, hash / set.count};
  }
}
template <class Policy>
CUBBY_ALWAYS_INLINE open_slot* home_line(const partition_array& a, std::uint64_t rest) noexcept {
  return a.slots() + map_hash<Policy>(rest, a.lines) * slots_in_line;
}
CUBBY_ALWAYS_INLINE open_slot* line_after(const partition_array& a, open_slot* line) noexcept {
  return line + slots_in_line == a.slots() + a.slot_count() ? a.slots() : line + slots_in_line;
}
inline const partition_array& array_of(const partition& p) noexcept {
  // [partition-array] seq_cst: pairs with [publish-partition]; the first load of a lookup stays behind what its thread did
  // before (A.1)
  return *p.current.load(sync::seq_cst);
}

/// A key with a reserved word: wait-free. The key was absent at some moment of the call if it came or went meanwhile.
CUBBY_NEVER_INLINE inline found_word find_aside(const partition& p, std::uint64_t word) noexcept {
  const open_slot& s = p.side[word];
  // [side-key] seq_cst: pairs with [side-shown]; the first load of a lookup, as in array_of
  const std::uint64_t before = s.first.load(sync::seq_cst);
  if (before % 2 == 0) return {};
  // [side-value] acquire: pairs with [side-filled]; a thread that reads the value of a later coming sees the going before it
  const std::uint64_t value = s.second.load(sync::acquire);
  // relaxed: it stays behind the acquire load above
  return s.first.load(sync::relaxed) == before ? found_word{true, value} : found_word{};
}

/// From `line`, the home line or one behind it, on.
CUBBY_ALWAYS_INLINE found_word find_in_lines(const partition_array& a, open_slot* line, std::uint64_t word) noexcept {
  for (std::uint64_t looked = 0; looked < a.lines; ++looked) {
    std::uint64_t value = 0;
    // Linearization point of a hit: the read of the key, or a later moment at which the value was current (P1); of a miss:
    // the read of the empty slot. In an array that has been replaced meanwhile: the moment before it was.
    const lookup_step saw = look_at_words(line, word, value);
    if (saw == lookup_step::hit) return {true, value};
    if (saw == lookup_step::miss) return {};
    line = line_after(a, line);
  }
  return {}; // an array without an empty slot
}

/// Two loads of a slot, by any thread, inside a pin.
template <class Policy>
CUBBY_ALWAYS_INLINE found_word find_in(const partition_set<Policy>& set, const word_probe& p) noexcept {
  const whereabouts at = whereabouts_of(set, p.hash);
  const partition& in = set.all[at.partition];
  if (is_reserved(p.word)) [[unlikely]]
    return find_aside(in, p.word);
  const partition_array& a = array_of(in);
  return find_in_lines(a, home_line<Policy>(a, at.rest), p.word);
}

} // namespace cubby::inline v0::detail::engines::partitioned
