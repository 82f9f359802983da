// SPDX-License-Identifier: Apache-2.0
// Settling the tuples of an array that has a successor, by units of lines. Who does it is in core/migration.hpp.
#pragma once

#include <cubby/detail/engines/dramhit_tuples/write.hpp>

namespace cubby::inline v0::engines::dramhit_tuples {

/// Settles the tuples of these units. Those that another thread has in hand are counted by that thread.
template <class Policy, class Threads>
generations::moved_parts move_range(table<Policy, Threads>& t, array<Policy, Threads>& a,
                                    generations::unit_range units) noexcept {
  const std::uint64_t end = units.last * a.in_unit < a.slot_count() ? units.last * a.in_unit : a.slot_count();
  generations::moved_parts out;
  for (std::uint64_t i = units.first * a.in_unit; i < end; ++i) out.count += settle(t, a, a.tuples[i]) ? 1U : 0U;
  return out;
}

} // namespace cubby::inline v0::engines::dramhit_tuples
