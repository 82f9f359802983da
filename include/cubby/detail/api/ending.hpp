// SPDX-License-Identifier: Apache-2.0
// The end of a table whose keys or values have destructors that may call the table. Each entry is erased and destroyed while the
// table still works, also the entries that the destructors insert.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cubby/detail/api/operations.hpp>
#include <cubby/detail/core/key.hpp>

namespace cubby::inline v0::detail {

/// Erases each entry that a scan meets, destroys it at once, and returns their number. No other thread may use the table.
template <class Engine> std::size_t destroy_all(context<Engine> s) {
  [[maybe_unused]] const auto pin =
      s.engine.pin(s.at); // keeps entries that the destructors erase: the scan may still meet them
  std::size_t count = 0;
  s.engine.for_each(s.at, [&](const auto& key, const auto& value) {
    const mutated m = s.engine.mutate(s.at, s.codec().probe_of_slot(key, value),
                                      [](std::uint64_t) { return decision{action::erase}; });
    if (!m.found) return;
    s.codec().dispose(m.before);
    ++count;
  });
  return count;
}

/// The first step of a table's destructor. No other thread may use the table. It does nothing if no destructor could call the table.
/// It also does nothing if there is no memory for the thread's record; then a destructor's call would fail, too. The engine's
/// destructor destroys the entries that remain.
template <contract::with_policy Engine> void empty_at_end(Engine& e) noexcept {
  using codec = typename Engine::policy;
  if constexpr (codec::in_records &&
                (may_call_back<typename codec::key_type> || may_call_back<typename codec::mapped_type>)) {
    fail::regardless([&e] {
      thread_record* const mine = e.local_thread_record();
      if (mine == nullptr) return;
      e.stop_worker();
      while (destroy_all<Engine>({e, *mine}) != 0 || e.dispose_retired()) continue;
    });
  }
}

} // namespace cubby::inline v0::detail
