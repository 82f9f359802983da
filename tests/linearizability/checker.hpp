// SPDX-License-Identifier: Apache-2.0
// Decides whether a history of a map is linearizable, key by key (linearizability composes). Wing and Gong's search with
// a memo on (linearized set, state), breadth first; threads are sequential, so a set is one count for each thread.
// Key by key, the requests of a batch on one key keep their order; order across the keys of a batch shows only when
// keys are judged together. A history that could not be decided is `not_checked`, which is never a pass.
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
  std::string text;             ///< for a person: what was left to explain when no order was left
  std::size_t keys = 0;         ///< judged one by one, however
  std::size_t keys_refused = 0; ///< of these
  std::size_t keys_not_checked = 0;
};

struct check_limits {
  std::size_t records_per_key = 20000;
  std::size_t states_at_once = 1u << 20;
};

/// The table is empty when the history begins. One key refused makes the history refused, else one key not checked
/// makes it not checked; the text is about the first such key. Records of one thread come in its order.
/// A key with two lookups in one unordered group is not checked.
finding check_history(std::span<const record> history, const check_limits& limits = {});

/// The same for all keys at once, so that each thread's requests keep their order across keys: for histories of at most
/// `keys_together` keys, and of no unordered groups. `records_per_key` bounds the whole history.
inline constexpr std::size_t keys_together = 4;
finding check_together(std::span<const record> history, const check_limits& limits = {});

/// Whether every batch ended as batches may: all of it recorded; in a stopping one everything before the first failure
/// and nothing behind it executed; in another everything executed. Both checks above begin with this.
finding check_batches(std::span<const record> history);

} // namespace cubby_test
