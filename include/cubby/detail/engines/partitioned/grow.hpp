// SPDX-License-Identifier: Apache-2.0
// The sizes that a user asks for. The sizes that a partition takes by itself: partition_write.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cubby/detail/engines/partitioned/partition_scan.hpp>

namespace cubby::inline v0::detail::engines::partitioned {

/// Gives each partition an array of `lines(partition)` lines, if it has another size. Blocks for the writers. False: no memory; some
/// partitions may have changed.
template <class Policy, class Lines> bool resize_all(partition_set<Policy>& set, Lines lines) noexcept {
  for (std::size_t i = 0; i < set.count; ++i) {
    partition& p = set.all[i];
    lock_scope alone(p.writing);
    const std::uint64_t wanted = lines(p);
    const std::uint64_t now = p.current.load(sync::relaxed)->lines; // relaxed: it is stored under this lock
    if (wanted != now && !rebuild(set, p, wanted)) return false;
    collect_arrays(*set.home, p, ~std::size_t{0});
  }
  return true;
}

/// Makes space for so many entries. False: no memory, or the bound of a `fixed` table is smaller.
template <class Policy> bool reserve(partition_set<Policy>& set, std::size_t entries) noexcept {
  const std::uint64_t wanted = lines_for<word_layout>(share_of(entries, set.count));
  if (!can_hold(set.count, wanted)) return false;
  if (set.settings.growth == growth_policy::fixed) return entries <= set.bound;
  return resize_all(set, [&](const partition& p) {
    const std::uint64_t now = p.current.load(sync::relaxed)->lines; // relaxed: the caller holds its lock
    return now < wanted ? wanted : now;
  });
}

/// Gives back space that the entries do not need, also that of dead slots. False: no memory.
template <class Policy> bool shrink_to_fit(partition_set<Policy>& set) noexcept {
  if (set.settings.shrink == shrink_policy::never) return true;
  return resize_all(set, [&](const partition& p) {
    const std::uint64_t now = p.current.load(sync::relaxed)->lines; // relaxed: the caller holds its lock
    const std::uint64_t needed = lines_for<word_layout>(p.used - p.dead_slots);
    const std::uint64_t wanted = needed < set.least_lines ? set.least_lines : needed;
    // A shrink by less than an eighth is not worth its copy.
    return now > wanted + wanted / 8 ? wanted : now;
  });
}

} // namespace cubby::inline v0::detail::engines::partitioned
