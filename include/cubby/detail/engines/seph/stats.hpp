// SPDX-License-Identifier: Apache-2.0
// The statistics of a table.
#pragma once

#include <cubby/detail/engines/seph/table.hpp>

namespace cubby::inline v0::detail::engines::seph {

/// `cubby::table_stats`, and what splits have done.
struct table_stats : cubby::table_stats {
  std::uint64_t moved = 0; ///< entries that splits have copied
  std::uint64_t dereferenced =
      0; ///< of these, entries for which a split had to read the item, because their foreseers had no bits left
};

template <class Policy> table_stats stats(const table<Policy>& t) noexcept {
  table_stats out;
  memory::region_list pages;
  out.size = static_cast<std::size_t>(live_entries(t));
  // relaxed, all: recent values
  out.bins = static_cast<std::size_t>(t.leaves.load(sync::relaxed));
  out.capacity = out.bins * static_cast<std::size_t>(slots_of_segment(t));
  out.growths = t.growths.load(sync::relaxed);           // relaxed: as above
  out.shrinks = t.shrinks.load(sync::relaxed);           // relaxed: as above
  out.rebuilds = t.rebuilds.load(sync::relaxed);         // relaxed: as above
  out.moved = t.moved.load(sync::relaxed);               // relaxed: as above
  out.dereferenced = t.dereferenced.load(sync::relaxed); // relaxed: as above
  out.migrating = t.under_way.load(sync::relaxed) != 0;  // relaxed: as above
  {
    const lock_scope alone(t.structure_lock); // directories are freed only under it
    pages.add(t.root.load(sync::relaxed)->pages);
    if (t.growing != nullptr) pages.add(t.growing->pages);
    out.retired = static_cast<std::size_t>(t.retired_count);
    const lock_scope keep(t.old_directories.lock);
    out.retired += t.old_directories.count();
    out.bytes = t.old_directories.bytes();
  }
  out.retired += t.bag.waiting();
  t.halves.list(pages);
  // a node for each leaf and one above each pair; the base; small objects of ended reorganisations
  out.bytes += pages.bytes() + 2 * out.bins * sizeof(level_segment) + (sizeof(directory::entry) << t.base_level);
  out.huge_bytes = pages.huge_bytes(); // reads a file, so not under the lock
  return out;
}

} // namespace cubby::inline v0::detail::engines::seph
