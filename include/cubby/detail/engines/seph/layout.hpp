// SPDX-License-Identifier: Apache-2.0
// What the seph engine stores (sections 3.1 and 3.2): slots in buckets, buckets in halves of physical segments, level segments.
//   slot   [63 foreseer 48 | 47 pointer to the item 3 | dirty 2 | stale 1 | mark 0]    all zero: empty
//          In a durable table pointers end at bit 46. Bit 47 says that the item is being erased.
//   next   [63 address of a reorganisation 3 | held 1 | done 0]                      all zero: a leaf that nobody reorganises
// A half at depth L serves the hashes that begin with its prefix of L bits. The next bits choose its bucket. A level segment at
// level r has a lower half at depth r, and the two halves of a higher segment at depth r + 1.
// Transitions of a slot, each by one compare-and-swap:
//   empty -> item            insert               item -> item            assign; the key stays the same
//   item  -> tombstone       erase                any  -> any with mark   a reorganisation, or a hold
//   dirty -> not dirty       when it is complete  stale -> not stale      a new foreseer
//   item  -> erasing         durable: erase       erasing -> tombstone    when it is complete
//   any with mark -> without the end of a hold; only its owner does it
// Two bits of the hash choose the part of a bucket with which the key begins (`first_part`). Its order of slots goes on with the next parts, and
// behind the last one with the first one.
// Invariants:
//   S1  In the order of a key no empty slot is before its own. A used slot is never empty again while its half is in use.
//   S2  An insert takes the first empty slot of the lower bucket in the order of its key; if there is none, that of the higher one.
//       It has compared all used slots before that, in both. So two inserts of one key compete for one slot.
//   S3  A marked slot does not change before its level segment is `done`, but that what it shows is completed. It shows the entry as it is.
//   S4  The slots that a reorganisation writes depend on marked slots alone. So any thread may write them again, by a
//       compare-and-swap from empty.
//   S5  A level segment is `done` only when all slots of what it gives up are marked and copied. Its children have them from then on.
//   S6  A copy is made of a slot that is not dirty. So a dirty slot, once it was copied, is dirty no more, and what it showed stays complete.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/platform/sync.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// Slots of a bucket: 256 bytes, as in the paper. Specialize it for the hash of a table to have fewer: a test that wants full buckets
/// after a few inserts does.
template <class Hash> inline constexpr unsigned bucket_slots = 32;

namespace slot_word {
inline constexpr std::uint64_t mark = 1;
inline constexpr std::uint64_t stale = 2; // the foreseer is that of the window before
inline constexpr std::uint64_t dirty = 4; // the file does not have the change yet that this word shows
inline constexpr std::uint64_t flags = 7;
inline constexpr unsigned foreseer_shift = 48;
inline constexpr std::uint64_t pointer_mask = (std::uint64_t{1} << foreseer_shift) - 1 - flags;
inline constexpr std::uint64_t tombstone = pointer_mask;                           // its foreseer is 0
inline constexpr std::uint64_t erasing = std::uint64_t{1} << (foreseer_shift - 1); // durable: beside a pointer

constexpr bool is_marked(std::uint64_t word) noexcept { return (word & mark) != 0; }
constexpr std::uint64_t pointer(std::uint64_t word) noexcept { return word & pointer_mask; }
constexpr bool is_empty(std::uint64_t word) noexcept { return pointer(word) == 0; }
constexpr bool is_item(std::uint64_t word) noexcept { return pointer(word) != 0 && pointer(word) != tombstone; }
/// Whether an address or offset can stand in a slot, and be told from a tombstone.
constexpr bool can_hold(std::uint64_t pointer) noexcept {
  return (pointer & ~pointer_mask) == 0 && pointer != tombstone;
}
constexpr std::uint64_t make(std::uint64_t pointer, std::uint64_t foreseer) noexcept {
  return foreseer << foreseer_shift | pointer;
}
} // namespace slot_word

namespace next_word {
inline constexpr std::uint64_t leaf = 0;
inline constexpr std::uint64_t done = 1; // the children have the entries
inline constexpr std::uint64_t held = 2; // a snapshot or a merge: writers wait
constexpr bool is_done(std::uint64_t word) noexcept { return (word & done) != 0; }
} // namespace next_word

// The foreseer (section 3.2.2): 16 bits of the hash, from a multiple of 8 on. A half knows the first `known` bits of the hashes in a
// bucket. The window of a slot begins at `window(known)`, or 8 bits before that if the slot is stale.
inline constexpr unsigned hash_bits = 64;
inline constexpr unsigned foreseer_bits = 16;
inline constexpr unsigned window_step = 8; // the paper's: at least half of the bits lie ahead
inline constexpr unsigned last_window = hash_bits - foreseer_bits;

constexpr unsigned window(unsigned known) noexcept {
  const unsigned at = known / window_step * window_step;
  return at < last_window ? at : last_window;
}
constexpr std::uint64_t foreseer_of(std::uint64_t hash, unsigned window) noexcept {
  return hash << window >> (hash_bits - foreseer_bits);
}
// A lookup needs the foreseers of two windows, that of `known` and the one before. Their 24 bits are the upper ones of a hash that is turned to the left
// by so many bits. The first window has none before it: what stands for that one then agrees with a slot by chance only.
inline constexpr unsigned both_windows = foreseer_bits + window_step;
constexpr std::uint8_t turn_for(unsigned known) noexcept {
  return static_cast<std::uint8_t>((window(known) - window_step) % hash_bits);
}
/// Whether a foreseer that begins at `window` has the two bits behind the first `known` ones.
constexpr bool foresees(unsigned window, unsigned known) noexcept { return known + 2 <= window + foreseer_bits; }
constexpr unsigned next_two_bits(std::uint64_t foreseer, unsigned window, unsigned known) noexcept {
  return static_cast<unsigned>(foreseer >> (window + foreseer_bits - known - 2) & 3);
}
static_assert(next_two_bits(foreseer_of(std::uint64_t{0b10} << 56, 0), 0, 6) == 0b10);
static_assert(next_two_bits(foreseer_of(std::uint64_t{0b11} << 46, 8), 8, 16) == 0b11);

/// The bucket of a hash in a half at `depth` with 2^bits buckets, and behind it, in the two lowest bits, the part with which the key begins.
constexpr std::uint64_t path_in(std::uint64_t hash, unsigned depth, unsigned bits) noexcept {
  return hash << depth >> (hash_bits - 2 - bits);
}
constexpr unsigned bit_at(std::uint64_t hash, unsigned level) noexcept {
  return static_cast<unsigned>(hash >> (hash_bits - 1 - level) & 1);
}
/// The two bits behind the first `known` ones.
constexpr unsigned two_bits(std::uint64_t hash, unsigned known) noexcept {
  return static_cast<unsigned>(hash << known >> (hash_bits - 2));
}
/// The first `bits` bits of a hash, as a number.
constexpr std::uint64_t first_bits(std::uint64_t hash, unsigned bits) noexcept {
  return bits == 0 ? 0 : hash >> (hash_bits - bits);
}

using slot = sync::word<std::uint64_t>;
static_assert(sizeof(slot) == 8);

struct reorganisation;

/// A level segment, or a node above two of them. One line.
struct alignas(64) level_segment {
  slot* lower = nullptr;    // the half at depth `level`
  slot* higher[2] = {};     // those at depth `level + 1`, by the next bit of the hash
  std::uint64_t prefix = 0; // the first `level` bits of its hashes, at the top
  sync::word<std::uint64_t> next;
  sync::word<level_segment*> child[2]; // set before `done`; both the same if it was not split
  std::uint32_t level = 0;
  std::uint8_t turn[2] =
      {}; // of the lower half and of the higher ones: `turn_for` what their positions tell. Each lookup needs it
  sync::word<std::uint8_t> stale; // 1: it may have stale slots
};
static_assert(sizeof(level_segment) == 64);

inline constexpr unsigned most_segment_bits = 9;
inline constexpr unsigned most_buckets_moved = 3U << (most_segment_bits - 1);
/// A level segment whose halves know more bits of the hash than this has no use of another split.
inline constexpr unsigned most_known = hash_bits - 2;

} // namespace cubby::inline v0::detail::engines::seph
