// SPDX-License-Identifier: Apache-2.0
// A table's beginning and end. The worker and the retired arrays are core/migration.hpp's.
#pragma once

#include <cubby/detail/engines/dramhit_tuples/resize.hpp>

namespace cubby::inline v0::engines::dramhit_tuples {

/// Makes a new table ready; false: no memory, or no thread for background growth.
template <class Policy, class Threads> bool open(table<Policy, Threads>& t) noexcept {
  return generations::begin_with(t, make_array<Policy, Threads>(lines_for(t, t.settings.capacity)));
}

/// Frees every array. Nobody else may use the table any more.
template <class Policy, class Threads> void close(table<Policy, Threads>& t) noexcept {
  generations::free_generations(t, [](const array<Policy, Threads>&) {});
}

} // namespace cubby::inline v0::engines::dramhit_tuples
