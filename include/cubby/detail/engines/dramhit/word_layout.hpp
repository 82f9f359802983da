// SPDX-License-Identifier: Apache-2.0
// Slots of words (DRAMHiT section 3): 16 bytes each, four to a line, probed line by line. Beside the paper: a search starts
// at the first slot of its home line, and slots move to another array, so that a table can grow, shrink or be rebuilt.
//
// A slot's key word and value word, and how it changes (all by one 16-byte compare-and-swap but the last):
//   empty  {0, 0}   -> live, sealed         live {k, v} -> {k, v'}, dead {1, v}, moving {2, v}
//   sealed {0, 1}   final                   dead {1, v} -> live or moved in a slot of its own, else final
//   moving {2, v}   -> moved {3, v}, by a plain store of the thread that moves it       moved {3, v}   final
// J1  A slot of the main region that has held a key is never empty again, so the chain of a key only gets longer.
// J2  A key is live in at most one slot of all arrays, and where one search finds it every search comes by. Its slot in an older
//     array may be moving then, and shows the same value (J6).
// J3  A thread that has read k in a slot may read v afterwards: until it sees {2} or {3} go by, the value word is k's, and was
//     current at some moment since k was read. An erased or moved slot keeps its value word for that reason.
// J4  A thread that goes on to the next array, to insert, has met a sealed slot, has sealed the free one that ends the chain,
//     or has met no empty slot at all: nobody can insert the key behind it.
// J5  Of the side region of a table of records `side_due` slots are never taken by inserts: what moves there has space.
// J6  An entry changes in an array only when its slots in the older ones are moved: until then they show what it was. A thread that
//     has met it behind other arrays looks once more into the root, the only one that is moved from.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/sync.hpp>
#include <cubby/detail/platform/word16.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// Key words that mean something else. A user's key with such a word lives in the side region, as word + 4.
inline constexpr std::uint64_t empty = 0;  ///< never used; with value 1 it is sealed: never will be
inline constexpr std::uint64_t dead = 1;   ///< erased: the paper's tombstone
inline constexpr std::uint64_t moving = 2; ///< on its way to the next array; its key word is in the unit's cell
inline constexpr std::uint64_t moved = 3;  ///< lives further on
inline constexpr std::uint64_t reserved_words = 4;
inline constexpr std::uint64_t open_mark = 0;   ///< value word of an empty slot
inline constexpr std::uint64_t sealed_mark = 1; ///< value word of a sealed one

inline constexpr std::size_t slots_in_line = 4;

using slot = sync::word16<sync::shared>;
static_assert(sizeof(slot) * slots_in_line == cpu::cache_line);

/// What a slot becomes that nobody may take any more: an empty one is sealed; a dead one in a slot of its own, which could be
/// taken again, keeps its value (J3).
constexpr sync::two_words closed(std::uint64_t key, std::uint64_t value) noexcept {
  return key == dead ? sync::two_words{moved, value} : sync::two_words{empty, sealed_mark};
}

constexpr bool is_reserved(std::uint64_t word) noexcept { return word < reserved_words; }
constexpr std::uint64_t stored_word(std::uint64_t word) noexcept {
  return word + (is_reserved(word) ? reserved_words : 0);
}

/// Slots that are words: what the codec of such a table is, is `slot_policy`.
struct word_layout {
  using slot = dramhit::slot;
  using value = std::uint64_t;
  using contents = sync::two_words; ///< of a slot, as they were read
  static constexpr bool counts_units = true;
  /// No array has fewer, so that a few threads that overlook each other's inserts do not fill one up.
  static constexpr std::uint64_t fewest_slots = 64;
  /// An insert that had to look at so many slots asks whether the table is crowded: the sum behind the answer costs as much as a
  /// search, and fewer than a twentieth of the inserts come so far before the mark is reached.
  static constexpr std::uint64_t long_search = 3 * slots_in_line;
};

} // namespace cubby::inline v0::detail::engines::dramhit
