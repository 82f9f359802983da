// SPDX-License-Identifier: Apache-2.0
// Arrays of tuples: how large. The rest of an array's life is in dramhit/arrays.hpp, where it counts tuples that are
// settled, not units, because some are settled by their writers (T5).
#pragma once

#include <new>

#include <cubby/detail/engines/dramhit_tuples/table.hpp>

namespace cubby::inline v0::engines::dramhit_tuples {

/// No array is smaller, so that a few threads that overlook each other's inserts do not fill one up.
inline constexpr std::uint64_t fewest_tuples = 64;

/// An array with every tuple empty, or null when there is no memory. Pages of a large one arrive at first use, and are zero: empty.
template <class Policy, class Threads> array<Policy, Threads>* make_array(std::uint64_t lines) noexcept {
  if (lines > arrays::most_lines) return nullptr;
  auto* const made = new (std::nothrow) array<Policy, Threads>;
  if (made == nullptr) return nullptr;
  made->lines = lines;
  made->pages = memory::allocate(lines * cpu::cache_line);
  if (made->pages.address == nullptr) {
    delete made;
    return nullptr;
  }
  made->tuples = reinterpret_cast<tuple<Policy, Threads>*>(made->pages.address);
  return made;
}

template <class Policy, class Threads>
array<Policy, Threads>* make_successor(table<Policy, Threads>&, array<Policy, Threads>&, std::uint64_t lines) noexcept {
  return make_array<Policy, Threads>(lines);
}

/// Lines in which `entries` take three tuples of four, or a little less.
template <class Policy, class Threads>
std::uint64_t lines_for(const table<Policy, Threads>&, std::uint64_t entries) noexcept {
  constexpr std::uint64_t in_line = array<Policy, Threads>::in_line;
  if (entries / 3 > arrays::most_lines) return arrays::most_lines + 1;
  const std::uint64_t tuples = (entries / 3 + 1) * 4;
  return (tuples < fewest_tuples ? fewest_tuples : tuples) / in_line;
}

/// Lines of the array after `a`: more when the live ones crowd it, as many when the dead ones do. 0: a `fixed` table is
/// full.
template <class Policy, class Threads>
std::uint64_t lines_after(const table<Policy, Threads>& t, const array<Policy, Threads>& a) noexcept {
  if (t.settings.growth == growth_policy::fixed) return dead_slots(t, a) >= a.slot_count() / 16 + 1 ? a.lines : 0;
  return lines_by_load(t, a);
}

} // namespace cubby::inline v0::engines::dramhit_tuples
