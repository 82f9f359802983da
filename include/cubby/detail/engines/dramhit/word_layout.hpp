// SPDX-License-Identifier: Apache-2.0
// Slots of words (DRAMHiT section 3): 16 bytes each, four to a line, probed line by line. Unlike the paper, a search starts at the
// first slot of its home line, and slots move to another array, so that a table can grow, shrink or be rebuilt.
//
// The states {key word, value word} of a slot. Each change is one 16-byte compare-and-swap, except the last one:
//   empty  {0, 0}   -> live, sealed         live {k, v} -> {k, v'}, dead {1, v}, moving {2, v}
//   sealed {0, 1}   final                   dead {1, v} -> live or moved in a slot of its own, else final
//   moving {2, v}   -> moved {3, v}, by a plain store of the thread that moves it       moved {3, v}   final
// J1  A slot of the main region that has held a key never becomes empty again, so the chain of a key only becomes longer.
// J2  A key is live in at most one slot of all arrays, and each search for it reaches that slot. Its slot in an older array may be
//     moving then, and shows the same value (J6).
// J3  A thread that has read the key k in a slot may read the value word afterwards: it is a value of k that was current at some
//     moment since k was read. For that reason an erased or moved slot keeps its value word.
// J4  A thread that goes on to the next array in order to insert has met a sealed slot, has sealed the free one that ends the chain,
//     or has met no empty slot. So no thread can insert the key behind it in the old array.
// J5  In the side region of a table of records, inserts leave `side_due` slots free for the keys that move there.
// J6  An entry changes in an array only after its slots in the older arrays have moved; until then they show its value. So a thread
//     that has met the entry in a later array looks once more into the root, the only array from which entries move.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/sync.hpp>
#include <cubby/detail/platform/word16.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// Key words with a special meaning. A user's key with such a word is stored in the side region, as word + 4.
inline constexpr std::uint64_t empty = 0;  ///< never used; with value word 1 it is sealed and will never be used
inline constexpr std::uint64_t dead = 1;   ///< erased: the paper's tombstone
inline constexpr std::uint64_t moving = 2; ///< it moves to the next array; its key word is in the unit's cell
inline constexpr std::uint64_t moved = 3;  ///< the entry is in a later array
inline constexpr std::uint64_t reserved_words = 4;
inline constexpr std::uint64_t open_mark = 0;   ///< value word of an empty slot
inline constexpr std::uint64_t sealed_mark = 1; ///< value word of a sealed one

inline constexpr std::size_t slots_in_line = 4;

using slot = sync::word16<sync::shared>;
static_assert(sizeof(slot) * slots_in_line == cpu::cache_line);

/// The final state of a slot that no insert may take any more. An empty slot becomes sealed. A dead side slot of a single key, which
/// could be taken again, becomes moved and keeps its value word (J3).
constexpr sync::two_words closed(std::uint64_t key, std::uint64_t value) noexcept {
  return key == dead ? sync::two_words{moved, value} : sync::two_words{empty, sealed_mark};
}

constexpr bool is_reserved(std::uint64_t word) noexcept { return word < reserved_words; }
constexpr std::uint64_t stored_word(std::uint64_t word) noexcept {
  return word + (is_reserved(word) ? reserved_words : 0);
}

/// The layout with slots of two words. The codec of such a table is a `slot_policy`.
struct word_layout {
  using slot = dramhit::slot;
  using value = std::uint64_t;
  using contents = sync::two_words; ///< of a slot, as they were read
  static constexpr bool counts_units = true;
  /// The fewest slots of an array, so that a few concurrent inserts, which do not count each other, cannot fill it.
  static constexpr std::uint64_t fewest_slots = 64;
  /// An insert that has looked at so many slots checks whether the table is crowded. The check sums counters, which costs as much as
  /// a search; fewer than a twentieth of the inserts come so far before the table is crowded.
  static constexpr std::uint64_t long_search = 3 * slots_in_line;
};

} // namespace cubby::inline v0::detail::engines::dramhit
