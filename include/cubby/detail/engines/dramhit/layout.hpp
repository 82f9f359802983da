// SPDX-License-Identifier: Apache-2.0
// A flat array of slots, with one of two layouts: slots of two words (word_layout.hpp) or tuples (tuple_layout.hpp). The codec of a
// table chooses the layout. A layout defines the type of a slot, the form in which a slot is read, and the sizes that differ.
#pragma once

#include <type_traits>

#include <cubby/detail/core/contract/codec.hpp>
#include <cubby/detail/engines/dramhit/arrays.hpp>
#include <cubby/detail/engines/dramhit/tuple_layout.hpp>
#include <cubby/detail/engines/dramhit/word_layout.hpp>
#include <cubby/detail/platform/memory.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

template <class Policy> struct layout_for {
  using type = word_layout;
};
template <tuple_policy Policy> struct layout_for<Policy> {
  using type = tuple_layout<Policy>;
};
template <class Policy> using layout_of = typename layout_for<Policy>::type;
template <class Policy> using value_in = typename layout_of<Policy>::value;
/// The parameter type of a value: a word by value, the words of a tuple by reference.
template <class Policy>
using passed_value = std::conditional_t<tuple_policy<Policy>, const value_in<Policy>&, value_in<Policy>>;

/// Whether the entries of a table are words: no value word is the address of a record.
template <class Policy> constexpr bool entries_are_words() noexcept {
  if constexpr (tuple_policy<Policy>) return false;
  else return !Policy::unique_words;
}
template <class Policy> inline constexpr bool in_words_alone = entries_are_words<Policy>();

inline constexpr std::uint64_t side_closed = std::uint64_t{1} << 63; ///< in `side_live`: inserts go to the next array

/// An array and its position in the chain of arrays. All members that are no atomic words are constant after publication. An array of
/// tuples has neither a side region nor cells.
template <class Layout> struct array {
  using slot_type = typename Layout::slot;
  static constexpr std::size_t in_line = cpu::cache_line / sizeof(slot_type);
  static constexpr std::size_t in_unit = arrays::unit_lines * in_line;
  static_assert(in_line * sizeof(slot_type) == cpu::cache_line);

  slot_type* slots = nullptr; ///< main region, then side region
  std::uint64_t lines = 0;    ///< of the main region
  std::uint64_t side_lines = 0;
  sync::word<array*, sync::shared> next; ///< null: nothing moves
  sync::word<std::uint64_t, sync::shared>* cells =
      nullptr;                                      ///< one for each unit: the key word of its slot in state moving
  sync::word<std::uint32_t, sync::shared> arriving; ///< 1 until all entries of the previous array are here
  std::int64_t base = 0;      ///< the table's claims minus the slots for what moves into this array
  std::uint64_t side_due = 0; ///< J5: at most so many keys move into the side region
  memory::region pages;
  std::uint64_t retired_at = 0; ///< the epoch of its retirement; used by table::retired, as is the next one
  array* next_retired = nullptr;

  alignas(cpu::cache_line) sync::word<std::uint64_t, sync::shared> cursor; ///< units that threads have taken
  sync::word<std::uint64_t, sync::shared> done;       ///< units that have moved; slots, if the layout counts slots
  sync::word<std::uint64_t, sync::shared> side_taken; ///< side slots that inserts have taken, or tried to take too late
  sync::word<std::uint64_t, sync::shared>
      side_live; ///< an upper bound of the keys in side slots and of inserts there; and `side_closed`

  [[nodiscard]] std::uint64_t slot_count() const noexcept { return lines * in_line; }
  [[nodiscard]] std::uint64_t side_slots() const noexcept { return side_lines * in_line; }
  [[nodiscard]] std::uint64_t all_slots() const noexcept { return (lines + side_lines) * in_line; }
  [[nodiscard]] std::uint64_t units() const noexcept { return (all_slots() + in_unit - 1) / in_unit; }

  static constexpr std::uint64_t unit_bins = arrays::unit_lines;
  [[nodiscard]] std::uint64_t extent() const noexcept { return lines; }
  [[nodiscard]] std::uint64_t units_to(const array&) const noexcept { return units(); }
  [[nodiscard]] std::uint64_t parts_to(const array&) const noexcept {
    return Layout::counts_units ? units() : slot_count();
  }
};

using word_array = array<word_layout>;
template <class Policy> using tuple_array = array<tuple_layout<Policy>>;

} // namespace cubby::inline v0::detail::engines::dramhit
