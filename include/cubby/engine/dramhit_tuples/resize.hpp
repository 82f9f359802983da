// SPDX-License-Identifier: Apache-2.0
// Settling the tuples of an array that has a successor, by units of lines. Who does it is in core/array_moves.hpp.
#pragma once

#include <cubby/engine/dramhit_tuples/write.hpp>

namespace cubby::inline v0::engines::dramhit_tuples {

/// Takes up to so many units of `a` and settles them. False when there was none left to take.
template <class Policy, class Threads>
bool move_units(table<Policy, Threads>& t, array<Policy, Threads>& a, std::uint64_t at_most) noexcept {
  const arrays::unit_range taken = arrays::take_units(a, at_most);
  for (std::uint64_t unit = taken.first; unit < taken.last; ++unit) {
    const std::uint64_t from = unit * a.in_unit;
    const std::uint64_t to = from + a.in_unit < a.slot_count() ? from + a.in_unit : a.slot_count();
    std::uint64_t settled = 0;
    for (std::uint64_t i = from; i < to; ++i) settled += settle(t, a, a.tuples[i]) ? 1U : 0U;
    count_moved(t, a, settled);
  }
  return taken.first != taken.last;
}

} // namespace cubby::inline v0::engines::dramhit_tuples
