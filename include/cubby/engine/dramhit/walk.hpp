// SPDX-License-Identifier: Apache-2.0
// A walk over all entries, a table's beginning and end, and its figures.
#pragma once

#include <cubby/engine/dramhit/insert.hpp>

namespace cubby::inline v0::engines::dramhit {

/// `f(key word, value word)` for each entry of one array, those on their way out included.
template <class Threads, class F> void for_each_in(const array<Threads>& a, F& f) {
  for (std::uint64_t i = 0; i < a.all_slots(); ++i) {
    slot<Threads>& s = a.slots[i];
    // [look] acquire: pairs with [entry]
    std::uint64_t key = s.first.load(sync::acquire);
    if (key == moving) {
      // [carried] acquire: pairs with [carry]
      const std::uint64_t carried = a.cells[i / unit_slots].load(sync::acquire);
      if (s.first.load(sync::acquire) == moving) key = carried; // [look] acquire: pairs with [moved-on]
    }
    if (is_reserved(key)) continue;
    // [look-value] acquire: pairs with [entry]
    const std::uint64_t value = s.second.load(sync::acquire);
    f(i < a.slot_count() ? key : key - reserved_words, value);
  }
}

/// Weak: an entry that is there all the time is met at least once, and again if it moves behind the walk.
template <class Policy, class Threads, class F> void for_each(const table<Policy, Threads>& t, F& f) {
  generations::for_each_generation(t, [&f](const array<Threads>& a) { for_each_in(a, f); });
}

/// Makes a new table ready; false: no memory, or no thread for background growth.
template <class Policy, class Threads> bool open(table<Policy, Threads>& t) noexcept {
  return generations::begin_with(t, make_array<Policy, Threads>(lines_for(t.settings.capacity)));
}

/// Disposes of every word and frees every array. Nobody else may use the table any more.
template <class Policy, class Threads> void close(table<Policy, Threads>& t) {
  generations::free_generations(t, [&t]([[maybe_unused]] const array<Threads>& a) {
    const auto dispose = [&t](std::uint64_t, std::uint64_t value) { t.policy.dispose(value); };
    if constexpr (Policy::unique_words) for_each_in(a, dispose);
  });
}

template <class Policy, class Threads> table_stats stats(const table<Policy, Threads>& t) noexcept {
  const std::size_t words = t.bag.waiting();
  auto out = arrays::figures_of<table_stats>(t);
  out.retired += words;
  return out;
}

} // namespace cubby::inline v0::engines::dramhit
