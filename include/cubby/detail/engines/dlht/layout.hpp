// SPDX-License-Identifier: Apache-2.0
// DLHT's plain structs and packed words (section 3.1). A bin is a 64-byte primary bucket and at most three link
// buckets. One 8-byte header orders all inserts, erases and the transfer of the bin.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/core/contract.hpp>
#include <cubby/detail/core/lock.hpp>
#include <cubby/detail/platform/memory.hpp>
#include <cubby/detail/platform/word16.hpp>

namespace cubby::inline v0::detail::engines::dlht {

// The bin header, 8 bytes:
//
//   63            32 31   30 29 28           3 2  1 0
//  +----------------+-------+-----+- ... -+-----+-----+
//  |    version     | state | s14 |       |  s1 |  s0 |    two bits for the bin, two for each of 15 slots
//  +----------------+-------+-----+- ... -+-----+-----+
//
// Each change of the header adds one to the version. So an unchanged header means an unchanged bin, except for assigned values and
// for keys that are shown or cleared. (The version has 32 bits: a reader would have to miss exactly 2^32 changes; see README.)
//
//  slot state | name here | paper     | may become
//  -----------+-----------+-----------+-------------------------------------------------
//  0          | invalid   | Invalid   | filling
//  1          | filling   | TryInsert | valid, shadow, invalid
//  2          | valid     | Valid     | filling or invalid, both once its key is cleared
//  3          | shadow    | Shadow    | valid, invalid
//
//  bin state  | name          | may become
//  -----------+---------------+-----------------------------------------------------------
//  0          | no_transfer   | in_transfer
//  1          | in_transfer   | done_transfer; no_transfer, if there is no memory for the next index
//  2          | done_transfer | (final)
//  3          | snapshot      | no_transfer, in_transfer: both after the end of the freeze
//
// Key words below `reserved_words` are marks, not keys. The keys 0 to 3 are stored as 4 to 7 in a side bin of their own.
//
//  key word | meaning                                       | value word
//  ---------+-----------------------------------------------+---------------------------------
//  cleared  | no entry: never used, erased or transferred   | unchanged since the entry left
//  pending  | an insert that is about to show its key       | the key (inline tables only)
//  owned    | a shadow entry                                | the key (inline tables only)
//  other    | an entry                                      | its value
//
// Invariants
//  I1  Inline tables: a slot shows a key only while the slot is valid and no transfer has captured its entry. So a
//      compare-and-swap that finds (key, value) there finds the live entry, also if the caller read it long ago and the slot
//      was reused since. (In record tables a value word does not return while an older pin lives.)
//  I2  A key never appears without its value: a slot goes from cleared to hidden to (key, value), the last step in one swap.
//  I3  Under one header, the contents of a valid slot change at most from hidden to (key, values...) to cleared, and the
//      value word stays when the key is cleared. Only the insert that has written a pending mark, or a transfer, removes it.
//  I4  At most one valid or shadow slot of a bin is for a given key.
//  I5  While a bin is in_transfer, only the thread that has set this state changes its header. done_transfer is final.
namespace slot_state {
inline constexpr std::uint64_t invalid = 0;
inline constexpr std::uint64_t filling = 1;
inline constexpr std::uint64_t valid = 2;
inline constexpr std::uint64_t shadow = 3;
} // namespace slot_state
namespace bin_state {
inline constexpr std::uint64_t no_transfer = 0;
inline constexpr std::uint64_t in_transfer = 1;
inline constexpr std::uint64_t done_transfer = 2;
inline constexpr std::uint64_t snapshot = 3;
} // namespace bin_state

inline constexpr std::uint64_t cleared = 0;
inline constexpr std::uint64_t pending = 1;
inline constexpr std::uint64_t owned = 2;
inline constexpr std::uint64_t reserved_words = 4;

inline constexpr unsigned primary_slots = 3;
inline constexpr unsigned link_slots = 4;
inline constexpr unsigned bin_slots = 15;

/// Functions that read and change header values; see the drawing above.
struct header {
  static constexpr std::uint64_t version_step = std::uint64_t{1} << 32;
  static constexpr unsigned state_shift = 30;
  static constexpr std::uint64_t state_mask = std::uint64_t{3} << state_shift;
  static constexpr std::uint64_t every_slot = 0x15555555;

  static constexpr std::uint64_t state_of(std::uint64_t h) noexcept { return (h & state_mask) >> state_shift; }
  static constexpr std::uint64_t slot_of(std::uint64_t h, unsigned slot) noexcept { return (h >> (2 * slot)) & 3; }
  static constexpr std::uint64_t with_slot(std::uint64_t h, unsigned slot, std::uint64_t state) noexcept {
    return ((h & ~(std::uint64_t{3} << (2 * slot))) | (state << (2 * slot))) + version_step;
  }
  static constexpr std::uint64_t with_state(std::uint64_t h, std::uint64_t state) noexcept {
    return ((h & ~state_mask) | (state << state_shift)) + version_step;
  }
  /// A bit for each slot that is valid, valid or shadow, invalid (three functions). Slot n has bit 2n.
  static constexpr std::uint64_t valid(std::uint64_t h) noexcept { return (h >> 1) & ~h & every_slot; }
  static constexpr std::uint64_t present(std::uint64_t h) noexcept { return (h >> 1) & every_slot; }
  static constexpr std::uint64_t invalid(std::uint64_t h) noexcept { return ~(h >> 1) & ~h & every_slot; }
  /// The slots of link buckets, in the same form.
  static constexpr std::uint64_t beyond_primary = every_slot & ~std::uint64_t{0x3f};
  /// The invalid primary slots of a plain header, in the same form.
  static constexpr std::uint64_t unused_primary(std::uint64_t h) noexcept { return ~(h >> 1) & 0x15; }
  /// Whether each slot of the bin is invalid or valid, no link bucket is in use, and the bin does not move.
  static constexpr bool is_plain(std::uint64_t h) noexcept {
    constexpr std::uint64_t filling_or_shadow = every_slot;
    return (h & (state_mask | filling_or_shadow | beyond_primary << 1)) == 0;
  }
  /// Whether a slot of a link bucket is valid or shadow.
  static constexpr bool uses_links(std::uint64_t h) noexcept { return (h & (beyond_primary << 1)) != 0; }
};

// The link word, 8 bytes: the low half chains one link bucket (slots 3 to 6), the high half two neighbouring ones (7 to 14). Each
// half is 0 or the bucket's number plus one. Once it is set, it does not change while the index lives.
inline constexpr std::uint64_t low_half = 0xffffffff;

// Further work for inserts and erases, beside generations::write_duty::move_or_free.
namespace write_duty {
inline constexpr std::uint32_t count_places = 2; // never cleared: the table has a bound
inline constexpr std::uint32_t watch_load = 4;   // never cleared: erases may shrink the table
} // namespace write_duty

template <class Threads> using slot = sync::word16<Threads>; // first: key word, second: value word

template <class Threads> struct alignas(cpu::cache_line) bin {
  sync::word<std::uint64_t, Threads> head;
  sync::word<std::uint64_t, Threads> links;
  slot<Threads> slots[primary_slots];
};
template <class Threads> struct alignas(cpu::cache_line) link_bucket {
  slot<Threads> slots[link_slots];
};

static_assert(sizeof(bin<sync::shared>) == cpu::cache_line && sizeof(bin<sync::single>) == cpu::cache_line);
static_assert(sizeof(link_bucket<sync::shared>) == cpu::cache_line);
static_assert(offsetof(bin<sync::shared>, slots) == 16 && alignof(slot<sync::shared>) == 16);
static_assert(header::valid(0x2) == 1 && header::valid(0x3) == 0 && header::present(0x3) == 1);
static_assert(header::invalid(header::with_slot(0, 14, slot_state::filling)) == (header::every_slot & ~(1ULL << 28)));

/// The number of units of the move from `from` bins to `to` bins, without that of the side bin, which comes last.
constexpr std::uint64_t unit_count(std::uint64_t from, std::uint64_t to) noexcept { return from < to ? from : to; }

/// A generation of the table (core/generations.hpp). A lookup reads only the first line.
template <class Threads> struct alignas(cpu::cache_line) index {
  bin<Threads>* bins = nullptr;          // bin_count bins, then the side bin of keys 0 to 3
  link_bucket<Threads>* links = nullptr; // behind the bins, in the same mapping
  std::uint64_t bin_count = 0;
  std::uint64_t link_count = 0;
  sync::word<std::uint64_t, Threads>
      asked_bins; // the bins that the user has asked for; more were added for entries or for crowded bins
  sync::word<index*, Threads> next;          // the successor, to which the entries move; set once
  sync::word<std::uint32_t, Threads> frozen; // 1 while bins in state `snapshot` refuse updates
  memory::region pages;
  std::uint64_t crowd_entries =
      0; // the live entries at the time at which a crowded bin made the index grow, or 0; constant

  alignas(cpu::cache_line) sync::word<std::uint64_t, Threads> links_used;
  alignas(cpu::cache_line) sync::word<std::uint64_t, Threads> cursor; // the first unit that no thread has taken
  sync::word<std::uint64_t, Threads> done;                            // the units whose bins are done_transfer
  sync::word<std::uint64_t, Threads> links_moved;                     // link buckets for entries from the predecessor
  sync::word<std::uint32_t, Threads> missed;                          // 1: a unit was given back for want of memory
  index* next_retired = nullptr;                                      // used by table::retired, as is the next one
  std::uint64_t retired_at = 0;

  /// Whether this is the index of tables that have had no insert yet (index.hpp, `empty_index`).
  [[nodiscard]] bool is_of_empty_tables() const noexcept { return links == nullptr; }

  static constexpr std::uint64_t unit_bins = 1;
  [[nodiscard]] std::uint64_t extent() const noexcept { return bin_count; }
  [[nodiscard]] std::uint64_t slot_count() const noexcept {
    return primary_slots * bin_count + link_slots * link_count;
  }
  [[nodiscard]] std::uint64_t units_to(const index& to) const noexcept {
    return unit_count(bin_count, to.bin_count) + 1;
  }
  [[nodiscard]] std::uint64_t parts_to(const index& to) const noexcept { return units_to(to); }
};

/// Slot `number`, 3 or more, in its link bucket. `links` is the bin's link word.
template <class Threads>
CUBBY_ALWAYS_INLINE slot<Threads>* linked_slot(const index<Threads>& at, std::uint64_t links,
                                               unsigned number) noexcept {
  if (number < primary_slots + link_slots) {
    return &at.links[(links & low_half) - 1].slots[number - primary_slots];
  }
  const unsigned from_second = number - primary_slots - link_slots;
  return &at.links[(links >> 32) - 1 + from_second / link_slots].slots[from_second % link_slots];
}

/// The primary slot of bit `bit` of the header, an even number. A slot has two bits in the header, and two words.
template <class Threads> CUBBY_ALWAYS_INLINE slot<Threads>* slot_of_bit(bin<Threads>& b, unsigned bit) noexcept {
  static_assert(sizeof(slot<Threads>) == 2 * sizeof(std::uint64_t));
  auto* const first = reinterpret_cast<unsigned char*>(&b.slots[0]);
  return reinterpret_cast<slot<Threads>*>(first + bit * sizeof(std::uint64_t));
}

/// Slot `number` of a bin. The header shows the slot in use, so its link bucket is chained.
template <class Threads>
CUBBY_ALWAYS_INLINE slot<Threads>* slot_at(const index<Threads>& at, bin<Threads>& b, unsigned number) noexcept {
  if (number < primary_slots) return &b.slots[number];
  // [links] acquire: pairs with [chain]
  return linked_slot(at, b.links.load(sync::acquire), number);
}

} // namespace cubby::inline v0::detail::engines::dlht
