// SPDX-License-Identifier: Apache-2.0
// DLHT's plain structs and packed words (section 3.1): a bin is a 64-byte primary bucket and at most three link
// buckets; one 8-byte header orders all inserts, erases and the transfer of the bin.
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
// Every change of the header adds one to the version, so an unchanged header means an unchanged bin but for assigned
// values and keys shown or cleared (32 bits: a reader would have to sleep through exactly 2^32 changes; see README).
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
//  1          | in_transfer   | done_transfer; no_transfer, when the next index cannot be had
//  2          | done_transfer | (final)
//  3          | snapshot      | no_transfer, in_transfer: once the index is not frozen any more
//
// Key words below `reserved_words` are marks, not keys; keys 0 to 3 live as 4 to 7 in a side bin of their own.
//
//  key word | the slot says                                 | value word
//  ---------+-----------------------------------------------+---------------------------------
//  cleared | nothing here: never used, erased, transferred | as the entry left it
//  pending  | an insert of this key is about to show it     | the key (inline tables only)
//  owned    | a shadow entry                                | the key (inline tables only)
//  other    | an entry                                      | its value
//
// Invariants
//  I1  Inline tables: a slot shows a key only while it is valid and its entry has not been captured by a transfer. So
//      a compare-and-swap that finds (key, value) there finds the live entry, however long ago the caller looked, and
//      however often the slot was reused. (In record tables no value word comes back while an older pin lives.)
//  I2  A key implies its value: a slot goes from cleared to hidden to (key, value), the last step at once.
//  I3  Under one header, what a valid slot shows goes at most from hidden to (key, values...) to cleared, and the
//      value word stays when the key is cleared.
//      Only the insert that put a pending mark there, or a transfer, takes it away.
//  I4  At most one valid or shadow slot of a bin is for a given key.
//  I5  While a bin is in_transfer its header belongs to the thread that set it so; done_transfer never changes again.
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

/// Reads and changes of header values; see the drawing above.
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
  /// One bit, at twice its number, for each slot that is valid / valid or shadow / invalid.
  static constexpr std::uint64_t valid(std::uint64_t h) noexcept { return (h >> 1) & ~h & every_slot; }
  static constexpr std::uint64_t present(std::uint64_t h) noexcept { return (h >> 1) & every_slot; }
  static constexpr std::uint64_t invalid(std::uint64_t h) noexcept { return ~(h >> 1) & ~h & every_slot; }
  /// The slots of link buckets, in the form of the three above.
  static constexpr std::uint64_t beyond_primary = every_slot & ~std::uint64_t{0x3f};
  /// Of a plain header, the primary slots that are invalid, in the form of the three above.
  static constexpr std::uint64_t unused_primary(std::uint64_t h) noexcept { return ~(h >> 1) & 0x15; }
  /// Whether every slot of the bin is invalid or valid, no link bucket is in use, and the bin is not moving.
  static constexpr bool is_plain(std::uint64_t h) noexcept {
    constexpr std::uint64_t filling_or_shadow = every_slot;
    return (h & (state_mask | filling_or_shadow | beyond_primary << 1)) == 0;
  }
  /// Whether a slot of a link bucket is valid or shadow.
  static constexpr bool uses_links(std::uint64_t h) noexcept { return (h & (beyond_primary << 1)) != 0; }
};

// The link word, 8 bytes: low half chains one link bucket (slots 3 to 6), high half two neighbouring ones (7 to 14).
// Each half is 0 or the bucket's number plus one, and once set stays until the index goes.
inline constexpr std::uint64_t low_half = 0xffffffff;

// What a table asks of inserts and erases beside their own work, with generations::write_duty::move_or_free.
namespace write_duty {
inline constexpr std::uint32_t count_places = 2; // set for good: the table has a bound
inline constexpr std::uint32_t watch_load = 4;   // set for good: erases may shrink it
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

/// Units of the move from `from` bins to `to` bins, without the side bin's (which has the number `units`).
constexpr std::uint64_t unit_count(std::uint64_t from, std::uint64_t to) noexcept { return from < to ? from : to; }

/// One generation of the table (core/generations.hpp). The first line is all that a lookup reads.
template <class Threads> struct alignas(cpu::cache_line) index {
  bin<Threads>* bins = nullptr;          // bin_count bins, then the side bin of keys 0 to 3
  link_bucket<Threads>* links = nullptr; // behind the bins, in the same mapping
  std::uint64_t bin_count = 0;
  std::uint64_t link_count = 0;
  sync::word<std::uint64_t, Threads>
      asked_bins;                   // as many as the user has asked for; others came for entries or for crowded bins
  sync::word<index*, Threads> next; // successor while or after the entries move; set once
  sync::word<std::uint32_t, Threads> frozen; // 1 while bins in state `snapshot` refuse updates
  memory::region pages;
  std::uint64_t crowd_entries = 0; // live ones when a crowded bin made it so large, or 0; constant

  alignas(cpu::cache_line) sync::word<std::uint64_t, Threads> links_used;
  alignas(cpu::cache_line) sync::word<std::uint64_t, Threads> cursor; // first unit that nobody has taken
  sync::word<std::uint64_t, Threads> done;                            // units whose bins are done_transfer
  sync::word<std::uint64_t, Threads> links_moved; // link buckets taken for entries that came from the predecessor
  sync::word<std::uint32_t, Threads> missed;      // 1: a unit was given back for want of memory
  index* next_retired = nullptr;                  // of table::retired, as is the next one
  std::uint64_t tag = 0;

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

/// The chained bucket and the place in it of slot `number`, 3 or more; `links` is the bin's link word.
template <class Threads>
CUBBY_ALWAYS_INLINE slot<Threads>* linked_slot(const index<Threads>& at, std::uint64_t links,
                                               unsigned number) noexcept {
  if (number < primary_slots + link_slots) {
    return &at.links[(links & low_half) - 1].slots[number - primary_slots];
  }
  const unsigned from_second = number - primary_slots - link_slots;
  return &at.links[(links >> 32) - 1 + from_second / link_slots].slots[from_second % link_slots];
}

/// The primary slot that bit `bit` of the header, an even number, stands for: a slot has two bits there, and two words here.
template <class Threads> CUBBY_ALWAYS_INLINE slot<Threads>* slot_of_bit(bin<Threads>& b, unsigned bit) noexcept {
  static_assert(sizeof(slot<Threads>) == 2 * sizeof(std::uint64_t));
  auto* const first = reinterpret_cast<unsigned char*>(&b.slots[0]);
  return reinterpret_cast<slot<Threads>*>(first + bit * sizeof(std::uint64_t));
}

/// Slot `number` of a bin whose header shows that slot in use, so that its bucket is chained.
template <class Threads>
CUBBY_ALWAYS_INLINE slot<Threads>* slot_at(const index<Threads>& at, bin<Threads>& b, unsigned number) noexcept {
  if (number < primary_slots) return &b.slots[number];
  // [links] acquire: pairs with [chain]
  return linked_slot(at, b.links.load(sync::acquire), number);
}

} // namespace cubby::inline v0::detail::engines::dlht
