// SPDX-License-Identifier: Apache-2.0
// Erases of one key, for words and for records, inside a pin that the caller holds.
#pragma once

#include <optional>

#include <cubby/detail/api/operations.hpp>

namespace cubby::inline v0::detail {

/// Erases the entry if `p_erase(value word) -> bool` agrees; it may run again.
template <class Engine, class P> bool erase_word(context<Engine> s, const typename Engine::probe& p, P&& agrees) {
  const auto m = s.engine.mutate(s.at, p, [&](const auto& word) {
    const bool leaves = [&] {
      [[maybe_unused]] const shown_entry<Engine> shown(s.engine, p, word);
      return agrees(word);
    }();
    if (leaves) refuse_shown(s.engine, p, true);
    return decision_of<Engine>{leaves ? action::erase : action::keep};
  });
  if (!m.found || m.done != action::erase) return false;
  if constexpr (Engine::policy::in_records) s.engine.retire(s.at, m.before);
  return true;
}

/// Erases the entry of a probe or of a query.
template <class Engine, class Asked> CUBBY_ALWAYS_INLINE bool erase_key(const context<Engine>& s, const Asked& p) {
  refuse_shown(s.engine, p, true);
  auto m = s.engine.mutate(s.at, p, erase_anyway<word_of_value<Engine>>{});
  if constexpr (Engine::policy::in_records) {
    if (m.found) s.engine.retire(s.at, m.before);
  }
  return m.found;
}

/// Erases the entry and puts the very value that left into `out`, which is empty; false: there was none. In record mode
/// the value is copied first, because others may read it yet: a copy that throws leaves the entry.
template <class Engine>
bool extract_into(context<Engine> s, const typename Engine::probe& p, std::optional<value_of<Engine>>& out) {
  const auto& codec = s.codec();
  refuse_shown(s.engine, p, true);
  if constexpr (!Engine::policy::in_records) {
    const auto m = s.engine.mutate(s.at, p, [](const auto&) { return decision_of<Engine>{action::erase}; });
    if (m.found) out.emplace(codec.value(m.before));
    return m.found;
  } else {
    for (;;) {
      const auto seen = s.engine.find(s.at, p);
      if (!seen.found) {
        out.reset();
        return false;
      }
      out.emplace(codec.value(seen.word));
      if (swap_word(s, p, seen.word, {action::erase})) return true;
    }
  }
}

/// The same, returned. The one variable is built in its place: a move after the erase could throw.
template <class Engine>
std::optional<value_of<Engine>> extract_value(context<Engine> s, const typename Engine::probe& p) {
  std::optional<value_of<Engine>> out;
  (void)extract_into(s, p, out);
  return out;
}

} // namespace cubby::inline v0::detail
