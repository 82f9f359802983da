// SPDX-License-Identifier: Apache-2.0
// The array (DRAMHiT section 3): slots of 16 bytes, four to a line, probed line by line. Beside the paper: a search starts
// at the first slot of its home line, and an array knows its successor, so that a table can grow, shrink or be rebuilt.
//
// A slot's key word and value word, and how it changes (all by one 16-byte compare-and-swap but the last):
//   empty  {0, 0}   -> live, sealed         live {k, v} -> {k, v'}, dead {1, v}, moving {2, v}
//   sealed {0, 1}   final                   dead {1, v} -> live or moved in a slot of its own, else final
//   moving {2, v}   -> moved {3, v}, by a plain store of the thread that moves it       moved {3, v}   final
// J1  A slot of the main region that has held a key is never empty again, so the chain of a key only gets longer.
// J2  A key is live in at most one slot of all arrays, and where one search finds it every search comes by. Its slot in an older
//     array may be moving then, and shows the same value (J6).
// J3  Who has read k in a slot may read v afterwards: until it sees {2} or {3} go by, the value word is k's, and was
//     current at some moment since k was read. An erased or moved slot keeps its value word for that reason.
// J4  A thread that goes on to the next array, to insert, has met a sealed slot, has sealed the free one that ends the chain,
//     or has met no empty slot at all: nobody can insert the key behind it.
// J5  Of the side region of a table of records `side_due` slots are never taken by inserts: what moves there has space.
// J6  An entry changes in an array only when its slots in the older ones are moved: until then they show what it was. A thread that
//     has met it behind other arrays looks once more into the root, the only one that is moved from.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/engines/dramhit/arrays.hpp>
#include <cubby/detail/platform/cpu.hpp>
#include <cubby/detail/platform/memory.hpp>
#include <cubby/detail/platform/sync.hpp>
#include <cubby/detail/platform/word16.hpp>

namespace cubby::inline v0::engines::dramhit {

/// Key words that mean something else. A user's key with such a word lives in the side region, as word + 4.
inline constexpr std::uint64_t empty = 0;  ///< never used; with value 1 it is sealed: never will be
inline constexpr std::uint64_t dead = 1;   ///< erased: the paper's tombstone
inline constexpr std::uint64_t moving = 2; ///< on its way to the next array; its key word is in the unit's cell
inline constexpr std::uint64_t moved = 3;  ///< lives further on
inline constexpr std::uint64_t reserved_words = 4;
inline constexpr std::uint64_t open_mark = 0;   ///< value word of an empty slot
inline constexpr std::uint64_t sealed_mark = 1; ///< value word of a sealed one

inline constexpr std::size_t slots_in_line = 4;
inline constexpr std::size_t unit_slots = arrays::unit_lines * slots_in_line;

inline constexpr std::uint64_t side_closed = std::uint64_t{1} << 63; ///< in `side_live`: inserts go to the next array

template <class Threads> using slot = sync::word16<Threads>;
static_assert(sizeof(slot<sync::shared>) * slots_in_line == cpu::cache_line);

/// What a slot becomes that nobody may take any more: an empty one is sealed; a dead one in a slot of its own, which could be
/// taken again, keeps its value (J3).
constexpr sync::two_words closed(std::uint64_t key, std::uint64_t value) noexcept {
  return key == dead ? sync::two_words{moved, value} : sync::two_words{empty, sealed_mark};
}

/// One array and its place in the chain of arrays. Everything but the words is constant once it is published.
template <class Threads> struct array {
  slot<Threads>* slots = nullptr; ///< main region, then side region
  std::uint64_t lines = 0;        ///< of the main region
  std::uint64_t side_lines = 0;
  sync::word<array*, Threads> next;            ///< null: nothing moves
  sync::word<std::uint64_t, Threads>* cells;   ///< one a unit: the key word of its slot in state moving
  sync::word<std::uint32_t, Threads> arriving; ///< 1 until everything from the array before is here
  std::int64_t base = 0;                       ///< the table's claims less what this array had to make space for
  std::uint64_t side_due = 0;                  ///< J5: no more keys than that move into the side region
  memory::region pages;
  std::uint64_t tag = 0; ///< epoch at which it left the chain; of table::retired, as is the next one
  array* next_retired = nullptr;

  alignas(cpu::cache_line) sync::word<std::uint64_t, Threads> cursor; ///< units that somebody has taken
  sync::word<std::uint64_t, Threads> done;                            ///< units that have moved
  sync::word<std::uint64_t, Threads> side_taken; ///< side slots that inserts have taken, or were too late to take
  sync::word<std::uint64_t, Threads> side_live;  ///< keys in side slots or about to be, at the most; and `side_closed`

  [[nodiscard]] std::uint64_t slot_count() const noexcept { return lines * slots_in_line; }
  [[nodiscard]] std::uint64_t side_slots() const noexcept { return side_lines * slots_in_line; }
  [[nodiscard]] std::uint64_t all_slots() const noexcept { return (lines + side_lines) * slots_in_line; }
  [[nodiscard]] std::uint64_t units() const noexcept { return (all_slots() + unit_slots - 1) / unit_slots; }

  static constexpr std::uint64_t unit_bins = arrays::unit_lines;
  [[nodiscard]] std::uint64_t extent() const noexcept { return lines; }
  [[nodiscard]] std::uint64_t units_to(const array&) const noexcept { return units(); }
  [[nodiscard]] std::uint64_t parts_to(const array&) const noexcept { return units(); }
};

constexpr bool is_reserved(std::uint64_t word) noexcept { return word < reserved_words; }
constexpr std::uint64_t stored_word(std::uint64_t word) noexcept {
  return word + (is_reserved(word) ? reserved_words : 0);
}

/// The slots that a key may be in, in order: `count` of them from `start` on, round the end to `first`.
template <class Threads> struct chain {
  slot<Threads>* first;
  std::uint64_t count;
  std::uint64_t start;
};

} // namespace cubby::inline v0::engines::dramhit
