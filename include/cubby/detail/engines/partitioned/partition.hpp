// SPDX-License-Identifier: Apache-2.0
// A partition of DRAMHiT-P (section 3.2): an array that all threads read and one thread at a time writes, without locked instructions.
// The slots are those of dramhit/word_layout.hpp, with fewer changes:
//   empty {0, 0} -> live {k, v}: the value first, then the key      live {k, v} -> {k, v'}: one store
//   live {k, v} -> dead {1, v}: one store, final
// P1  A slot that has held a key never holds another one. So a thread that has read the key k in a slot then reads a value of k there,
//     which was current at some moment since. The slots of a chain fill in order, so the first empty one ends each search.
// P2  Only the holder of `writing` stores here. An array that has been replaced does not change any more.
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
  std::uint64_t retired_at = 0; ///< the epoch of its replacement; only the writer uses it and the next member
  partition_array* next_retired = nullptr;

  [[nodiscard]] open_slot* slots() const noexcept {
    return reinterpret_cast<open_slot*>(pages.address + sizeof(partition_array));
  }
  [[nodiscard]] std::uint64_t slot_count() const noexcept { return lines * slots_in_line; }
};
static_assert(sizeof(partition_array) == cpu::cache_line);

struct alignas(cpu::cache_line) partition {
  // All threads read this line, and the writer seldom stores to it.
  sync::word<partition_array*> current;
  sync::word<std::uint32_t> owners; ///< the number of its owners
  /// The keys with a reserved word. The key word is odd while the key is present; each insert and erase adds one.
  alignas(cpu::cache_line) open_slot side[reserved_words];

  /// The lock of the writer. Readers never wait for it. Each write ends with an unlock, which makes it visible (A.1).
  alignas(cpu::cache_line) small_lock<sync::shared, unlocking::seen> writing;
  /// Only the writer stores to what follows; other threads read the words.
  alignas(cpu::cache_line) sync::word<std::uint64_t> live; ///< entries
  std::uint64_t used = 0;                                  ///< slots of the array that are not empty
  std::uint64_t dead_slots = 0;                            ///< of these, dead ones
  partition_array* retired = nullptr;
  std::uint32_t rounds = 0; ///< `serve` calls since retired arrays were last checked
  sync::word<std::uint64_t> growths;
  sync::word<std::uint64_t> shrinks;
  sync::word<std::uint64_t> rebuilds;
};

/// All partitions of a table, with what their writers need.
template <class Policy> struct partition_set {
  partition_set(const options& chosen, Policy slots) : policy(std::move(slots)), settings(chosen) {}
  const domain_ref home = domain_of_table<sync::shared>(); ///< its thread records keep alive what the table shows
  Policy policy;
  options settings;
  std::size_t count = 0;
  partition* all = nullptr;
  std::uint64_t least_lines = 1; ///< of each partition, from `settings.capacity`
  /// It belongs to the caller's image, because a table that several images use keeps no address of a function.
  CUBBY_OF_IMAGE static simd::line_match match(const void* line, std::uint64_t word) noexcept {
    static const simd::match_function widest = simd::widest_matcher();
    return widest(line, word);
  }
  std::uint64_t bound = ~std::uint64_t{0}; ///< entries at which a `fixed` table refuses new keys
  /// In a `fixed` table: the number of all entries. Writers change it, and senders read it.
  alignas(cpu::cache_line) sync::word<std::uint64_t> placed;
};

/// The partition of a hash, and the bits that choose a line in the partition.
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

/// Finds a key with a reserved word. Wait-free. If the key is inserted or erased meanwhile, it may answer absent, which the key was at
/// some moment of the call.
CUBBY_NEVER_INLINE inline found_word find_aside(const partition& p, std::uint64_t word) noexcept {
  const open_slot& s = p.side[word];
  // [side-key] seq_cst: pairs with [side-shown]; the first load of a lookup, as in array_of
  const std::uint64_t before = s.first.load(sync::seq_cst);
  if (before % 2 == 0) return {};
  // [side-value] acquire: pairs with [side-filled]; a thread that reads the value of a later insert sees the erase before it
  const std::uint64_t value = s.second.load(sync::acquire);
  // relaxed: it stays behind the acquire load above
  return s.first.load(sync::relaxed) == before ? found_word{true, value} : found_word{};
}

/// Searches from `line` on, which is the home line or one behind it.
CUBBY_ALWAYS_INLINE found_word find_in_lines(const partition_array& a, open_slot* line, std::uint64_t word) noexcept {
  for (std::uint64_t looked = 0; looked < a.lines; ++looked) {
    std::uint64_t value = 0;
    // Linearization point of a hit: the read of the key, or a later moment at which the value was current (P1); of a miss:
    // the read of the empty slot. In an array that has been replaced meanwhile: the moment before the replacement.
    const lookup_step saw = look_at_words(line, word, value);
    if (saw == lookup_step::hit) return {true, value};
    if (saw == lookup_step::miss) return {};
    line = line_after(a, line);
  }
  return {}; // an array without an empty slot
}

/// The value word of the probe's key, for any thread inside a pin. Wait-free but for the length of the chain.
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
