// SPDX-License-Identifier: Apache-2.0
// The sizes that a user asks for. The sizes that a table takes by itself: arrays.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/engines/dramhit/arrays.hpp>

namespace cubby::inline v0::detail::arrays {

/// Moves everything to an array of `lines` if `is_wrong(lines of the last one)`, and on while others add arrays. False: no
/// memory.
template <class Table, class F> bool resize_until_right(Table& t, std::uint64_t lines, F is_wrong) noexcept {
  auto* a = first_array(t);
  while (auto* const next = next_array(*a)) a = next;
  if (is_wrong(a->lines) && make_next(t, *a, lines) == nullptr) return false;
  generations::finish_moves(t);
  generations::release_retired(t);
  return true;
}

/// Space for so many entries. False: no memory, or the table is `fixed`.
template <class Table> bool reserve(Table& t, std::size_t entries) noexcept {
  lock_scope alone(t.shape_lock);
  const std::uint64_t wanted = lines_for(t, entries);
  if (wanted > most_lines) return false;
  generations::finish_moves(t);
  if (t.settings.growth == Table::growth::fixed) return entries <= t.settings.capacity;
  const auto is_small = [wanted](std::uint64_t lines) { return lines < wanted; };
  while (is_small(first_array(t)->lines))
    if (!resize_until_right(t, wanted, is_small)) return false; // others may have grown it further meanwhile
  return true;
}

/// Gives space back that the entries do not need, the dead ones' included. False: no memory.
template <class Table> bool shrink_to_fit(Table& t) noexcept {
  lock_scope alone(t.shape_lock);
  if (t.settings.shrink == Table::shrink::never) return true;
  const std::uint64_t needed = lines_for(t, live_entries(t));
  const std::uint64_t wanted = needed < t.least_extent ? t.least_extent : needed;
  // A shrink that would give back less than an eighth is not worth its moves.
  auto* const oldest = first_array(t);
  if (next_array(*oldest) == nullptr && oldest->lines <= wanted + wanted / 8) return true;
  return resize_until_right(t, wanted, [wanted](std::uint64_t lines) { return lines > wanted; });
}

} // namespace cubby::inline v0::detail::arrays
