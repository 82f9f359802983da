// SPDX-License-Identifier: Apache-2.0
// Decides whether a history of a map is linearizable, key by key (linearizability composes). Wing and Gong's search with
// a memo on (linearized set, state), breadth first; threads are sequential, so a set is one count for each thread.
// A history that could not be decided is `not_checked`, which is never a pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "linearizability/history.hpp"

namespace cubby_test {

enum class judgement : std::uint8_t { linearizable, refused, not_checked };

struct finding {
  judgement what = judgement::linearizable;
  std::uint64_t key = 0;
  std::string text; ///< for a person: what was left to explain when no order was left
};

struct check_limits {
  std::size_t records_per_key = 20000;
  std::size_t states_at_once = 1u << 20;
};

/// The table is empty when the history begins. Stops at the first key that is not linearizable.
finding check_history(std::span<const record> history, const check_limits& limits = {});

} // namespace cubby_test
