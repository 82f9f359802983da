// SPDX-License-Identifier: Apache-2.0
// How a table is made, and how it ends. core/migration.hpp starts the worker; core/generations.hpp frees the arrays.
#pragma once

#include <cubby/detail/engines/dramhit/insert.hpp>
#include <cubby/detail/engines/dramhit/scan.hpp>

namespace cubby::inline v0::detail::engines::dramhit {

/// Initializes a new table. False: no memory, or no thread for background growth.
template <class Policy> bool open(table<Policy>& t) noexcept {
  return generations::begin_with(t, make_array<Policy>(lines_for(t, t.settings.capacity)));
}

/// Disposes of all words and frees all arrays. No other thread may use the table any more.
template <class Policy> void close(table<Policy>& t) {
  generations::free_generations(t, [&]([[maybe_unused]] const array<layout_of<Policy>>& a) {
    if constexpr (!tuple_policy<Policy> && !in_words_alone<Policy>) {
      const auto dispose = [&](std::uint64_t, std::uint64_t value) { t.policy.dispose(value); };
      for_each_in(a, dispose);
    }
  });
}

} // namespace cubby::inline v0::detail::engines::dramhit
