// SPDX-License-Identifier: Apache-2.0
// The end of a table whose keys or values have destructors that may call it: every entry is erased and destroyed while the
// table still works, those that the destructors add as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cubby/detail/api/operations.hpp>
#include <cubby/detail/core/key.hpp>

namespace cubby::inline v0::detail {

/// Whether destroying a T runs code that nobody here knows. Text that is nothing else calls no table.
template <class T> inline constexpr bool may_call_back = !std::is_trivially_destructible_v<T> && !stored_as_bytes<T>;
template <class K> inline constexpr bool may_call_back<in_namespace<K>> = may_call_back<K>;

/// Erases what a scan meets, and destroys it at once: nobody else is there to see it. The number.
template <class Engine> std::size_t destroy_all(context<Engine> s) {
  [[maybe_unused]] const auto pin = s.engine.pin(s.at); // keeps what the destructors take out: the scan may come to it
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

/// Called first at a table's end, when nobody else uses it. Does nothing where no destructor could call it, nor without memory
/// for the thread's record, in which case a destructor's call would fail as well; the engine's end destroys what is left.
template <class Engine> void empty_at_end(Engine& e) noexcept {
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
